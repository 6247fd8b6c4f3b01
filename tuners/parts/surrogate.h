#pragma once
// What the GP tuner believes of the losses: a Gaussian process over the results so far, kept up to
// date one result at a time.
#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "base/json.h"
#include "base/result.h"
#include "math/gp/gaussian_process.h"
#include "space/features.h"
#include "tuners/parts/history.h"

namespace attune {

struct SurrogateSettings {
  double least_noise = 1e-6;  // its variance, in variances of the targets; in (0, 1)
  GaussianProcess::Warping warping = GaussianProcess::Warping::by_evidence;
};

// A value. Not thread safe. The same calls leave the same bits.
class Surrogate {
 public:
  // Of larger histories the model holds a part.
  static constexpr std::size_t kMostRows = 500;

  // Of the objective or limit with number `output` in History::values().
  Surrogate(const Features& features, Scale scale, const SurrogateSettings& settings = {},
            std::size_t output = 0);

  // Takes in what came since, and fits the kernel's parameters anew when the history has grown by a
  // twentieth. At least one usable result.
  void update(const History& history);

  // The trials that run, encoded; they count as if they would end with what is expected of them.
  void pretend(std::span<const std::span<const double>> running);

  const GaussianProcess& model() const { return model_; }
  // Of the history, for each row but those of pretended trials, and their targets.
  const std::vector<std::size_t>& members() const { return members_; }
  // Whether both have the same rows and will be fitted anew together.
  bool in_step_with(const Surrogate& other) const {
    return members_ == other.members_ && seen_ == other.seen_ && fits_ == other.fits_ &&
           fitted_at_ == other.fitted_at_;
  }
  const std::vector<double>& targets() const { return targets_; }
  // What is expected of each pretended trial.
  const std::vector<double>& pretended_means() const { return pretended_means_; }
  double best() const { return best_; }  // the lowest target or expectation, of pretended rows too
  // Of the history, indices: those with the lowest expected losses, the best first.
  std::vector<std::size_t> most_promising(std::size_t count) const;

  // By how much the lowest expected loss, of what was tried and of `row`, would become lower if a
  // trial there ended at the lower or the upper end of its interval of 95 %, on average.
  double expected_fall(std::span<const double> row) const;
  // Of the history, the usable result that is furthest from what is expected now, if noise would
  // explain less than one of twenty such differences.
  std::optional<std::size_t> most_surprising(const History& history) const;

  json save() const;
  Result<void> load(const json& state, const History& history);  // all or nothing

 private:
  void take_targets(const History& history);
  void fit(const History& history);

  Scale scale_;
  SurrogateSettings settings_;
  std::size_t output_;
  std::vector<std::size_t> categories_;
  GaussianProcess model_;
  std::vector<std::size_t> members_;  // of the history, for each row
  std::vector<double> targets_;
  std::size_t seen_ = 0;       // of the history
  std::size_t fitted_at_ = 0;  // size of the history at the last fit
  std::size_t fits_ = 0;
  std::vector<std::vector<double>> pretended_;
  std::vector<double> pretended_means_;
  double best_ = 0;
};

}  // namespace attune
