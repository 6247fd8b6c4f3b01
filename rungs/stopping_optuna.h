#pragma once
// Optuna's SuccessiveHalvingPruner, and its HyperbandPruner, which is several of them.
//
// Li et al., "A System for Massively Parallel Hyperparameter Tuning" (MLSys 2020), algorithm 2: a
// trial is promoted at once or stopped, because Optuna cannot pause. Li, Jamieson, DeSalvo,
// Rostamizadeh, Talwalkar, "Hyperband" (JMLR 2018), algorithm 1: the brackets.
#include <cstdint>

#include "rungs/stopping.h"

namespace attune {

struct OptunaHalvingOptions {
  double min_resource = 1;      // a positive integer
  double reduction_factor = 4;  // an integer, at least 2
  // Of each bracket the number of lowest rungs that it does without. One element or more.
  std::vector<std::size_t> early_stopping_rates = {0};
  std::vector<double> probabilities = {1};  // of the brackets
  std::size_t bootstrap_count = 0;
  bool maximise = false;
};

// The options of Hyperband, whose brackets do without 0, 1, 2, ... rungs. There are
// floor(log(max_resource / min_resource) / log(reduction_factor)) + 1 of them, and their
// probabilities are in proportion to the trials that a bracket has in the paper. max_resource >=
// min_resource. It ends no trial.
OptunaHalvingOptions hyperband_pruner_options(double min_resource, double max_resource,
                                              double reduction_factor);

// Rung r of a bracket with rate s is at min_resource * reduction_factor^(s + r), without end. A
// trial that has reached its next rung takes part there with its newest result: it goes on if that
// is among the best floor(n / reduction_factor) of the n results, itself included, or if it is the
// best. Then it is judged at the next rung, if its resource suffices. So a trial that jumps over
// rungs is judged at all of them by one result.
//
// The first `bootstrap_count` trials of a rung are stopped whatever their result. A result that is
// NaN stops the trial and leaves nothing in the rung.
//
// Cost of a report: O(log n) for n results in a rung (SortedNumbers).
class OptunaHalvingRule final : public StoppingRule {
 public:
  explicit OptunaHalvingRule(OptunaHalvingOptions options)
      : options_(std::move(options)), brackets_(options_.early_stopping_rates.size()) {}

  std::span<const double> brackets() const override { return options_.probabilities; }
  Decision judge(TrialId trial, RungVisitor& visitor, double resource,
                 std::span<const double> losses) override;
  json save() const override;
  Result<std::unique_ptr<StoppingRule>> loaded(const json& state) const override;
  bool possible(const RungVisitor& visitor) const override;

 private:
  std::string compete(SortedNumbers& rung, double level, double loss) const;

  OptunaHalvingOptions options_;
  std::vector<std::vector<SortedNumbers>> brackets_;  // the rungs that somebody has reached
};

}  // namespace attune
