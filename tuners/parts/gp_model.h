#pragma once
// The model of the GP tuner: one surrogate for each objective and limit, and the acquisition that
// is computed from them.
#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "base/json.h"
#include "base/result.h"
#include "base/rng.h"
#include "space/features.h"
#include "tuners/parts/acquisition_search.h"
#include "tuners/parts/history.h"
#include "tuners/parts/surrogate.h"

namespace attune {

// What a proposal maximises with one objective and no limits. With limits it is always expected
// improvement; with several objectives, expected hypervolume improvement.
struct Utility {
  // by_noise: expected improvement, unless the model holds more than a twentieth of the variance of
  // the results for noise; then a confidence bound one deviation below the mean. The lowest of
  // noisy results is a lucky one. Hardly any point is expected to improve on it, and improvement
  // would then favour the points that the model knows least.
  enum class Kind { by_noise, improvement, confidence, probability };
  Kind kind = Kind::improvement;
  double kappa = 5;  // confidence: the bound is so many deviations below the mean
  double xi = 0;     // the least improvement that counts, in deviations of the results
};

// A prior can only weigh a logarithm, which a confidence bound is not: with one it is expected
// improvement.
inline Utility weighable(const Utility& utility, bool has_priors) {
  return has_priors ? Utility{} : utility;
}

// Independent surrogates, one for each objective and limit. A value; not thread safe.
class GpModel {
 public:
  // `objectives` >= 1 and `limits` as in History.
  GpModel(const Features& features, Scale scale, const SurrogateSettings& settings,
          std::size_t objectives, std::size_t limits);

  // As Surrogate::learn_from(), for the first objective.
  void learn_from(std::shared_ptr<const EarlierModels> earlier);

  // Adds the results that are new in the history, and the running trials (encoded). The history
  // needs at least one usable result.
  void update(const History& history, std::span<const std::span<const double>> running);

  std::size_t size() const { return objectives_.front().model().size(); }  // rows of each surrogate
  const Surrogate& objective() const { return objectives_.front(); }       // the first one
  std::size_t outputs() const { return objectives_.size() + limits_.size(); }

  // Indices in the history of the results to search around, at most `count`, the best first. With
  // one objective and no limits: those with the lowest expected losses. Otherwise: the best
  // observed results among the rows of the model.
  std::vector<std::size_t> good(const History& history, std::size_t count) const;

  // The acquisition. It is a logarithm, except for the confidence bound.
  // * One objective: what `utility` names; with limits, expected improvement.
  // * Two objectives: a `straightened` model takes the expected hypervolume improvement
  //   (math/gp/hypervolume_improvement.h). In each objective the reference lies beyond the front by
  //   a tenth of its extent, or at the worst target if that is worse. A `standardised` model takes
  //   the expected improvement along a direction that it draws from `rng`
  //   (math/gp/scalarised_improvement.h), from a reference just beyond the useful part of the
  //   front. Taking turns they find the ends of a front, and then what lies between.
  // * More objectives: always along a direction. The volume seeks the ends of the front, of which
  //   there are many, and the cost of its boxes explodes.
  // * With limits: that, times the probability that all limits are kept (Gardner et al., "Bayesian
  //   Optimization with Inequality Constraints", ICML 2014). While no result keeps all limits, only
  //   the probability.
  // The result points into this model: it is valid until the model changes.
  Acquisition acquisition(const History& history, const Utility& utility, Rng& rng) const;

  json save() const;
  Result<void> load(const json& state, const History& history);  // all or nothing

 private:
  bool directed_;
  std::vector<Surrogate> objectives_, limits_;
};

}  // namespace attune
