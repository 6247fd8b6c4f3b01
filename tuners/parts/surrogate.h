#pragma once
// The model of one objective or limit: a Gaussian process over the results so far, updated with
// each result.
#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "base/json.h"
#include "base/result.h"
#include "math/gp/gaussian_process.h"
#include "space/features.h"
#include "tuners/parts/earlier_mean.h"
#include "tuners/parts/history.h"

namespace attune {

struct SurrogateSettings {
  double least_noise = 1e-6;  // the noise's least variance, in variances of the targets; in (0, 1)
  GaussianProcess::Warping warping = GaussianProcess::Warping::by_evidence;
};

// A value. Not thread safe. The same calls give exactly the same numbers.
class Surrogate {
 public:
  // A fit takes at most so many results of the history, chosen by modelled() and
  // without_accidents(). Up to a tenth more are added until the next fit.
  static constexpr std::size_t kMostRows = 500;

  // Models element `output` of History::values().
  Surrogate(const Features& features, Scale scale, const SurrogateSettings& settings = {},
            std::size_t output = 0);

  // The losses are modelled as the sum of what these models expect and of a process, from the next
  // update() on. Call it before that of any other function.
  void learn_from(std::shared_ptr<const EarlierModels> earlier) {
    earlier_ = EarlierMean(std::move(earlier));
  }

  // Adds the results that are new in the history. When the history has grown by a twentieth, it
  // chooses the rows again and fits the kernel's parameters. Every fourth time a `standardised`
  // model also chooses the power of the losses (math/gp/powers.h). New results remove the pretended
  // trials. The history needs at least one usable result.
  void update(const History& history);

  // Sets the running trials (encoded points). Each counts as if it ended with the mean that the
  // model expects of it, those before it included.
  void pretend(std::span<const std::span<const double>> running);

  // The process: all of the model, unless it has learnt from earlier experiments.
  const GaussianProcess& model() const { return model_; }
  // As the functions of GaussianProcess, for the whole model.
  std::vector<Prediction> predict_many(std::span<const double> rows) const;
  Prediction predict(std::span<const double> row, std::span<double> mean_gradient,
                     std::span<double> deviation_gradient) const;
  // The index in the history of each row except the pretended ones.
  const std::vector<std::size_t>& members() const { return members_; }
  // Whether both models have the same rows and will be fitted again at the same time.
  bool in_step_with(const Surrogate& other) const {
    return members_ == other.members_ && seen_ == other.seen_ && fits_ == other.fits_ &&
           fitted_at_ == other.fitted_at_;
  }
  const std::vector<double>& targets() const { return targets_; }
  // Of a limit: the target of a result that just keeps it.
  double border() const { return border_; }
  // The expected target of each pretended trial.
  const std::vector<double>& pretended_means() const { return pretended_means_; }
  // The lowest target, or expected target of a pretended trial.
  double best() const { return best_; }
  // Indices in the history of the `count` rows with the lowest expected losses, the best first.
  std::vector<std::size_t> most_promising(std::size_t count) const;

  // By how much a trial at `row` would lower the lowest expected loss of all tried points and
  // `row`. The average of two cases: the trial ends at the lower, or at the upper end of its
  // interval of 95 %. Not for a model that has learnt from earlier experiments.
  double expected_fall(std::span<const double> row) const;
  // The index in the history of the usable result that differs most from what the model expects.
  // Nothing if noise explains all differences: noise alone exceeds the threshold once in twenty
  // results.
  std::optional<std::size_t> most_surprising(const History& history) const;

  json save() const;
  Result<void> load(const json& state, const History& history);  // all or nothing

 private:
  void take_targets(const History& history);
  void centre_targets();
  void choose_power(const History& history);
  void fit(const History& history);
  void choose_earlier(GaussianProcess& part, std::span<const double> rows,
                      std::span<const double> targets);
  void climb(GaussianProcess& part, std::span<const double> targets) const;
  std::vector<double> rest() const;
  double offset(std::span<const double> row) const;
  std::vector<double> offsets(std::span<const double> rows) const;
  std::vector<double> fitted_means() const;
  bool is_large() const;
  int affordable(int most, std::size_t n) const;

  Scale scale_;
  SurrogateSettings settings_;
  std::size_t output_;
  std::vector<std::size_t> categories_;
  GaussianProcess model_;
  std::vector<std::size_t> members_;  // index in the history of each row
  std::vector<double> targets_;
  double border_ = 0;
  EarlierMean earlier_;
  std::vector<double> offsets_;  // of earlier_ at each row; empty: it is 0
  double power_ = 1;             // of the losses, before they become targets
  std::size_t seen_ = 0;         // size of the history at the last update
  std::size_t fitted_at_ = 0;    // size of the history at the last fit
  std::size_t fits_ = 0;
  std::vector<std::vector<double>> pretended_;
  std::vector<double> pretended_means_;
  double best_ = 0;
};

}  // namespace attune
