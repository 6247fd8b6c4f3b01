#pragma once
// What the rules of the successive halving family that stop trials have in common. A trial runs
// until it reaches the resource of a rung. There its result is compared with those that other
// trials had at the same rung, and the trial goes on or is stopped. Nobody waits for anybody.
//
// A trial that ends needs no call: its results stay in the rungs that it passed, as a measure for
// others, whatever its end. It does not count at rungs that it never reached. So no rung waits for
// a trial, and a failure makes the rule neither stricter nor milder for the others.
#include <memory>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "base/json.h"
#include "base/result.h"
#include "base/rng.h"
#include "base/trial.h"
#include "math/sorted_numbers.h"
#include "rungs/reason_text.h"

namespace attune {

// How far a trial has come.
struct RungVisitor {
  std::size_t bracket = 0;
  std::set<std::size_t> passed = {};  // the rungs of its bracket that have its result
};

class StoppingRule {
 public:
  virtual ~StoppingRule() = default;

  // How probable each bracket is for a new trial. At least one element; their sum is 1.
  virtual std::span<const double> brackets() const = 0;

  // Judges one report of a trial, in the order of its reports. `losses`: see losses_of(). The
  // decision is keep_going, or stop with a reason.
  virtual Decision judge(TrialId trial, RungVisitor& visitor, double resource,
                         std::span<const double> losses) = 0;

  // The results of all rungs. loaded(): a rule with the same arguments and the saved results, or
  // why there is none.
  virtual json save() const = 0;
  virtual Result<std::unique_ptr<StoppingRule>> loaded(const json& state) const = 0;

  // Whether a trial can have come this far under the rule, given the results of the rungs.
  virtual bool possible(const RungVisitor& visitor) const = 0;
};

// One number for each objective, to be minimised; for a limit, by how much it is broken
// (to_minimise() in base/standing.h). An infinite number of either sign is kWorstLoss: a result
// that ran away is not a good one. NaN stays. Empty: the report lacks one of the metrics.
std::vector<double> losses_of(const Report& report, std::span<const Objective> objectives);

// One bracket, with the given probabilities. Draws nothing if there is only one.
std::size_t draw_bracket(std::span<const double> probabilities, Rng& rng);

// The losses of some rungs as a state, and back.
json save_rungs(std::span<const SortedNumbers> rungs);
Result<std::vector<SortedNumbers>> load_rungs(const json& state);

// What a user reads of a stop. `value`, `cutoff`: in the user's sign.
//
//   rung 9: 0.713 ranks 17 of 20; the best 33 % end at 0.709
//
// A value that is not finite is not compared with a cutoff in words: it may lie between a number
// and kWorstLoss. Then the text is that of at_rank().
std::string at_cutoff(double level, double value, std::size_t rank, std::size_t of, double share,
                      double cutoff);
// The same for a rule without a cutoff: rung 9: 0.713 ranks 17 of 20; the best 33 % go on
std::string at_rank(double level, double value, std::size_t rank, std::size_t of, double share);
// The decision that a trial has used its full resource.
Decision fully_used(TrialId trial, double resource, double max_t);

}  // namespace attune
