#pragma once
// The brackets of milestones of Ray Tune's AsyncHyperBandScheduler, which Syne Tune's MOASHA and
// (since 0.15) its ASHA have, too; and the rules for one objective that compare at them.
#include <optional>

#include "rungs/stopping.h"

namespace attune {

struct MilestoneOptions {
  double max_t = 100;  // max_t >= grace_period > 0
  double grace_period = 1;
  double reduction_factor = 4;  // > 1
  std::size_t brackets = 1;     // >= 1
  // Whether a trial is stopped at max_t. If not, it goes on as long as it likes, and a rung that it
  // has passed is not looked at again.
  bool stop_last_trials = true;
};

// Which rung of a trial's bracket a report fills. Immutable.
class Milestones {
 public:
  explicit Milestones(const MilestoneOptions& options);

  // A report fills one rung at most: the highest that it has reached and that has no result of the
  // trial yet. So if a trial jumps over a rung, the next report fills that one. This is Ray's
  // behaviour; it does not happen to trials that report at each milestone.
  std::optional<std::size_t> reached(const RungVisitor& visitor, double resource) const;

  bool used_up(double resource) const {
    return options_.stop_last_trials && resource >= options_.max_t;
  }
  double level(const RungVisitor& visitor, std::size_t rung) const {
    return milestones_[visitor.bracket][rung];
  }
  // The place of a bracket's rung among all rungs, of which there are size().
  std::size_t place(const RungVisitor& visitor, std::size_t rung) const {
    return first_[visitor.bracket] + rung;
  }
  std::size_t size() const { return size_; }
  bool possible(const RungVisitor& visitor) const;

  const MilestoneOptions& options() const { return options_; }
  std::span<const double> brackets() const { return probabilities_; }

 private:
  MilestoneOptions options_;
  std::vector<std::vector<double>> milestones_;  // by bracket, ascending
  std::vector<std::size_t> first_;               // by bracket
  std::vector<double> probabilities_;
  std::size_t size_ = 0;
};

// How AsyncHyperBand compares a result with those that the rung had before it. The first result of
// a rung always goes on.
enum class MilestoneRule {
  // Ray Tune: stops what is worse than the percentile (1 - 1 / reduction_factor) of the scores.
  percentile,
  // Syne Tune 0.15: stops if more than 1 / reduction_factor of the results are better. The new one
  // counts among the results.
  rank,
};

// Cost of a report: O(log n) for n results in a rung (SortedNumbers).
//
// A result that is NaN passes its rung without a trace: the trial goes on, as in Ray, and nobody is
// compared with it. An infinite result is the worst.
class AsyncHyperBandRule final : public StoppingRule {
 public:
  AsyncHyperBandRule(const MilestoneOptions& options, MilestoneRule rule, bool maximise)
      : milestones_(options), rule_(rule), maximise_(maximise), rungs_(milestones_.size()) {}

  std::span<const double> brackets() const override { return milestones_.brackets(); }
  Decision judge(TrialId trial, RungVisitor& visitor, double resource,
                 std::span<const double> losses) override;

  // Ray's on_trial_complete(): the result counts at a rung, but stops nobody. Ray calls it instead
  // of judging when a trial has ended by itself, and once more for the last result of one that it
  // has stopped.
  void complete(TrialId trial, RungVisitor& visitor, double resource,
                std::span<const double> losses) {
    visit(trial, visitor, resource, losses[0]);
  }

  json save() const override { return save_rungs(rungs_); }
  Result<std::unique_ptr<StoppingRule>> loaded(const json& state) const override;
  bool possible(const RungVisitor& visitor) const override { return milestones_.possible(visitor); }

 private:
  Decision visit(TrialId trial, RungVisitor& visitor, double resource, double loss);

  Milestones milestones_;
  MilestoneRule rule_;
  bool maximise_;
  std::vector<SortedNumbers> rungs_;
};

}  // namespace attune
