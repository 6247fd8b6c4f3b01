#pragma once
// The region of the TuRBO tuner: where it is, how large it is, and the models of the results.
//
// With limits it is that of Eriksson, Poloczek, "Scalable Constrained Bayesian Optimization"
// (AISTATS 2021), section 3: the centre is the best result that keeps the limits, or else the one
// that breaks them least.
#include <cstddef>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <vector>

#include "base/json.h"
#include "base/result.h"
#include "base/rng.h"
#include "base/trial.h"
#include "space/features.h"
#include "tuners/parts/gp_model.h"
#include "tuners/parts/history.h"
#include "tuners/parts/trust_region.h"

namespace attune {

// A value. Not thread safe. The argument `history` is always the same one, with one objective and
// `limits` limits, and with all results so far.
class TurboRegion {
 public:
  // The failure tolerance is the number of dimensions, at least 4: that of the paper for one trial
  // at a time. `earlier`: what the model learns from (Surrogate::learn_from); null: nothing.
  TurboRegion(const Features& features, const TrustRegionSettings& settings, std::size_t limits,
              std::shared_ptr<const EarlierModels> earlier = nullptr);

  double length() const { return trust_.length(); }
  // The centre of the region, as an index in the history. Without limits: the usable result with
  // the lowest loss that the model expects, as in the paper for noisy results. With limits: the
  // result that ranks best (Standing). Call model() before, after every change.
  std::size_t centre(const History& history) const;

  // A trial begins. `guided`: it was proposed within the region, so its result counts as a success
  // or a failure.
  void start(TrialId id, bool guided);
  void withdraw(TrialId id) { guided_.erase(id); }

  // Takes the last result in the history, which is that of trial `id`. A region that has become too
  // small begins again at its first size; trials that it proposed before do not count any more.
  void learn(const History& history, TrialId id);

  // The models with all results and the running trials (encoded). The history must have at least
  // one usable result.
  const GpModel& model(const History& history, std::span<const std::span<const double>> running);
  // What `utility` names; with limits expected improvement times the probability that they are
  // kept. Valid until the region changes. Call model() before.
  Acquisition acquisition(const History& history, const Utility& utility, Rng& rng) const {
    return model_.acquisition(history, utility, rng);
  }

  json save() const;
  // Loads into a new region of the same settings. After an error it must not be used.
  Result<void> load(const json& state, const History& history);

 private:
  void count(const History& history, std::size_t i);
  bool improves(const History& history, std::size_t i) const;

  TrustRegionSettings settings_;
  std::size_t failure_tolerance_;
  TrustRegion trust_;
  GpModel model_;
  std::optional<std::size_t> best_;  // index of the usable result that ranks best
  std::set<TrialId> guided_;
};

}  // namespace attune
