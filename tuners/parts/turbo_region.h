#pragma once
// The present region of the TuRBO tuner: its results, the models of them, and its size.
//
// With limits it is that of Eriksson, Poloczek, "Scalable Constrained Bayesian Optimization"
// (AISTATS 2021), section 3: the centre is the best result that keeps the limits, or else the one
// that breaks them least.
#include <cstddef>
#include <memory>
#include <set>
#include <span>
#include <string_view>
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

// A value. Not thread safe. The argument `all` is always the history of all regions, with one
// objective and `limits` limits.
class TurboRegion {
 public:
  // The failure tolerance is the number of dimensions, at least 4: that of the paper for one trial
  // at a time. `strangers`: running trials of earlier regions; this region ignores their results.
  // `earlier`: what the model learns from (Surrogate::learn_from); null: nothing.
  TurboRegion(const Features& features, const TrustRegionSettings& settings, std::size_t limits,
              std::set<TrialId> strangers, std::shared_ptr<const EarlierModels> earlier = nullptr);

  const TrustRegion& trust() const { return trust_; }
  std::size_t usable() const { return history_.usable(); }  // usable results in this region
  std::size_t strangers() const { return strangers_.size(); }
  // The centre of the region, as an index in `all`. Without limits: the usable result with the
  // lowest loss that the model expects, as in the paper for noisy results. With limits: the result
  // that ranks best (Standing). Call model() before, after every change.
  std::size_t centre() const;

  // A trial begins. `guided`: it was proposed within the trust region, so its result counts as a
  // success or a failure.
  void start(TrialId id, bool guided);
  void withdraw(TrialId id);

  // Adds the last result in `all`, which is that of trial `id`.
  void learn(const History& all, TrialId id);

  // The models with all results of the region and the running trials (encoded). The region must
  // have at least one usable result.
  const GpModel& model(std::span<const std::span<const double>> running);
  // What `utility` names; with limits expected improvement times the probability that they are
  // kept. Valid until the region changes. Call model() before.
  Acquisition acquisition(const Utility& utility, Rng& rng) const {
    return model_.acquisition(history_, utility, rng);
  }

  json save() const;
  // Loads into a new region of the same settings. After an error it must not be used.
  Result<void> load(const json& state, const History& all);

 private:
  void add(const History& all, std::size_t i);
  bool improves(std::span<const double> values) const;

  TrustRegion trust_;
  History history_;
  GpModel model_;
  std::vector<std::size_t> members_;  // index in `all` of each result in history_
  std::size_t best_ = 0;              // index in history_ of the result that ranks best
  std::set<TrialId> guided_, strangers_;
};

}  // namespace attune
