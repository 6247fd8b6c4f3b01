#pragma once
// What the GP tuner believes of all objectives and limits, and how much it wants a configuration.
#include <cstddef>
#include <span>
#include <vector>

#include "base/json.h"
#include "base/result.h"
#include "space/features.h"
#include "tuners/parts/acquisition_search.h"
#include "tuners/parts/history.h"
#include "tuners/parts/surrogate.h"

namespace attune {

// Of one objective without limits; with limits it is expected improvement, and several objectives
// are sought by expected hypervolume improvement.
struct Utility {
  enum class Kind { improvement, confidence, probability };
  Kind kind = Kind::improvement;
  double kappa = 5;  // confidence: deviations that the bound is away from the mean
  double xi = 0;     // the improvement that counts, in deviations of the results
};

// Independent surrogates, one for each objective and limit. A value; not thread safe.
class GpModel {
 public:
  // `objectives` >= 1 and `limits` as in History.
  GpModel(const Features& features, Scale scale, const SurrogateSettings& settings,
          std::size_t objectives, std::size_t limits);

  // Takes in what came since, and what runs, encoded. At least one usable result.
  void update(const History& history, std::span<const std::span<const double>> running);

  std::size_t size() const { return objectives_.front().model().size(); }  // rows of each surrogate
  std::size_t outputs() const { return objectives_.size() + limits_.size(); }

  // Of the history, indices: results to look around, at most `count`. Of one objective those with
  // the lowest expected losses; else the best observed
  // among the rows of the model.
  std::vector<std::size_t> good(const History& history, std::size_t count) const;

  // The logarithm of what an evaluation is expected to improve, times the probability that it keeps
  // all limits (Gardner et al., "Bayesian Optimization with Inequality Constraints", ICML 2014);
  // while no result keeps them only the latter. Several objectives:
  // math/gp/hypervolume_improvement.h; the reference is a tenth of the front's extent beyond it, or
  // the worst result if that is worse. Valid as long as the model is unchanged.
  Acquisition acquisition(const History& history, const Utility& utility) const;

  json save() const;
  Result<void> load(const json& state, const History& history);  // all or nothing

 private:
  std::vector<Surrogate> objectives_, limits_;
};

}  // namespace attune
