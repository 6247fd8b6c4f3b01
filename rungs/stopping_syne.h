#pragma once
// Asynchronous successive halving of the type "stopping", and RUSH, as in Syne Tune until 0.14
// (HyperbandScheduler with type "stopping" and "rush_stopping").
//
// Li et al., "A System for Massively Parallel Hyperparameter Tuning" (MLSys 2020), section 3, in
// the variant without promotions. Zappella, Salinas, Archambeau, "A resource-efficient method for
// repeated HPO and NAS problems" (AutoML workshop at ICML 2021): RUSH.
#include <cstdint>

#include "rungs/stopping.h"

namespace attune {

struct SyneStoppingOptions {
  std::vector<std::int64_t> levels;  // ascending, below max_t: syne_levels() in rungs/levels.h
  std::int64_t max_t = 100;
  std::size_t brackets = 1;  // wanted; there are at most levels + 1
  bool maximise = false;
  // RUSH: the trials 0, 1, ... of this number are known to be good. Others must be as good as the
  // best of them at each rung. With 0 the rule is plain ASHA.
  TrialId threshold_candidates = 0;
};

// At a rung a result is inserted first, and the trial goes on if it is not worse than the cutoff
// of the best level / (next level) of all results there: 1 / reduction_factor, if the levels are
// that far apart. All brackets share the rungs; bracket s does without the s lowest.
//
// Only a report whose resource is exactly a level counts there. If a trial jumps over a level, it
// goes on, and the rung never has its result: one of a greater resource would be too good for it.
// So the resource should be an integer. A result that is not a number counts as the worst.
//
// Cost of a report: O(log n) for n results in a rung (SortedNumbers).
class SyneStoppingRule final : public StoppingRule {
 public:
  explicit SyneStoppingRule(SyneStoppingOptions options);

  std::span<const double> brackets() const override { return probabilities_; }
  Decision judge(TrialId trial, RungVisitor& visitor, double resource,
                 std::span<const double> losses) override;
  json save() const override;
  Result<std::unique_ptr<StoppingRule>> loaded(const json& state) const override;
  bool possible(const RungVisitor& visitor) const override;

 private:
  SyneStoppingOptions options_;
  std::vector<double> probabilities_;
  std::vector<SortedNumbers> rungs_;  // by level
  // By level: the best loss of the threshold candidates that went on; NaN: there is none yet.
  std::vector<double> thresholds_;
};

}  // namespace attune
