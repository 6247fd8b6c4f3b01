#pragma once
// What the TuRBO tuner knows of its present region: its results, the model of them, its size.
#include <cstddef>
#include <set>
#include <span>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "base/result.h"
#include "base/trial.h"
#include "space/features.h"
#include "tuners/parts/history.h"
#include "tuners/parts/surrogate.h"
#include "tuners/parts/trust_region.h"

namespace attune {

// A value. Not thread safe. `all`: the results of all regions, of one objective.
class TurboRegion {
 public:
  // A failure tolerance of the number of dimensions, at least 4: the paper's, for one trial at a
  // time. `strangers`: running trials of which it will not learn.
  TurboRegion(const Features& features, const TrustRegionSettings& settings,
              std::set<TrialId> strangers);

  const TrustRegion& trust() const { return trust_; }
  std::size_t usable() const { return history_.usable(); }  // results
  std::size_t strangers() const { return strangers_.size(); }
  // In `all`: the usable result of which the model expects the lowest loss, the paper's centre
  // where results are noisy. model() was called since the last change.
  std::size_t centre() const;

  // A trial begins; `guided`: it was proposed within the region, so that its result counts as a
  // success or a failure.
  void start(TrialId id, bool guided);
  void withdraw(TrialId id);

  // Takes in the newest of `all`, that of trial `id`.
  void learn(const History& all, TrialId id);

  // Brought up to date; `running`: encoded trials. At least one usable result.
  const Surrogate& model(std::span<const std::span<const double>> running);

  json save() const;
  // Into a region of the same settings without results; on an error it is of no use any more.
  Result<void> load(const json& state, const History& all);

 private:
  void add(const History& all, std::size_t i);
  bool improves(double loss) const;

  TrustRegion trust_;
  History history_;
  Surrogate surrogate_;
  std::vector<std::size_t> members_;  // of all results, for each of history_
  std::size_t best_ = 0;              // in history_
  std::set<TrialId> guided_, strangers_;
};

}  // namespace attune
