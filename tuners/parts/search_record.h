#pragma once
// What a tuner that models the losses remembers about an experiment: the results, the running
// trials, and the proposed points. The model itself belongs to the tuner.
#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "base/json.h"
#include "base/result.h"
#include "base/rng.h"
#include "space/branch.h"
#include "space/dedup.h"
#include "space/features.h"
#include "space/prior.h"
#include "space/saved_point.h"
#include "space/space.h"
#include "tuners/parts/acquisition_search.h"
#include "tuners/parts/history.h"
#include "tuners/parts/objectives.h"
#include "tuners/parts/running_trials.h"
#include "tuners/tuner.h"

namespace attune {

// Whether there are enough results for a model that wants `wanted`. Once half of them have come,
// running trials count too: otherwise a tuner with many trials at a time would make more random
// proposals than one with a single trial at a time. Never true without a usable result.
bool enough_results(std::size_t usable, std::size_t running, std::size_t wanted);

// A value. Not thread safe.
class SearchRecord {
 public:
  // Trials of each branch that are drawn at random, and those that a model proposes there in
  // addition, while there are fewer than kEarly results. Otherwise chance decides which branch is
  // searched at all: the best of ten random results is in that with the best average, and a local
  // search stays there.
  static constexpr std::size_t kDrawn = 2, kGuided = 2;
  static constexpr std::size_t kEarly = 40;

  explicit SearchRecord(const Space& space, const Objectives& objectives = {});  // keeps copies

  // Other priors for the same points: they count as new.
  void set_priors(const Space& space);

  const Space& space() const { return space_; }
  const Features& features() const { return features_; }
  const History& history() const { return history_; }
  const Point& point(std::size_t i) const { return points_[i]; }  // of result i in history()

  // The encoded points of the newest `most` running trials, oldest first. Valid until the record
  // changes.
  std::vector<std::span<const double>> running(std::size_t most) const;

  // The points of the `count` members with the lowest losses, the best first. `members` are indices
  // in history(); `losses` has a number for each member.
  std::vector<Point> best_points(std::span<const std::size_t> members,
                                 std::span<const double> losses, std::size_t count) const;

  // Whether the point was proposed, adopted or told before.
  bool known(const Point& point) const { return dedup_.repeats(point); }

  bool enough_results(std::size_t wanted) const {
    return attune::enough_results(history_.usable(), running_.size(), wanted);
  }

  // The first point of `found` that is not known yet; null: there is none. Valid as long as
  // `found`.
  const Point* unseen(std::span<const Found> found) const;
  // The same; if there is none, draw(rng).
  Point first_unseen(std::span<const Found> found, Rng& rng) const;
  // A random point. It tries to find one that is new and breaks no constraint, but may fail. While
  // a branch has had few trials, the point lies in that branch (see neglected()), unless no new one
  // is found there.
  Point draw(Rng& rng) const;
  // The same, for trials before there is a model. Of the first one the numbers are in the middle of
  // their ranges: on average a better guess than random ones.
  Point early(Rng& rng) const;
  // The first trial that is drawn comes behind `starts` others, with the best points of earlier
  // experiments.
  void begin_behind(std::size_t starts) { starts_ = starts; }
  // The first trial may have been proposed, and forgotten in a crash.
  void skip_first() { first_lost_ = true; }

  // The branch of the first root choice (space/branch.h) that has had the fewest trials, running
  // ones included, if these are fewer than `wanted`; of several such branches a random one. Nothing
  // without a root choice, and once there are kEarly results.
  std::optional<Branch> neglected(std::size_t wanted, Rng& rng) const;

  bool has_priors() const { return !priors_.empty(); }
  // The acquisition, times the prior to a power that fades (tuners/parts/prior_belief.h). Valid
  // until the record changes.
  Acquisition with_prior(Acquisition acquisition) const;

  // Proposes `point`. In a finite space a known point is replaced by another one, or by Exhausted
  // if none is left: see Deduplicator.
  Answer propose(TrialId id, Point point);
  // Proposes a known point once more, on purpose.
  Answer repeat(TrialId id, Point point);

  // As in Tuner.
  void withdraw(TrialId id) { running_.finish(id); }
  void tell(std::span<const Outcome> outcomes);
  void adopt(TrialId id, const Point& point);

  json save() const;
  // `state` must be of the same space. On an error nothing changes. `gaps`: whether results may
  // have gaps (Tuner::takes_gaps).
  Result<void> load(const json& state, Gaps gaps = Gaps::none);

 private:
  void learn(Point point, History::Kind kind, std::span<const double> values);

  Space space_;
  Objectives objectives_;
  Features features_;
  Priors priors_;
  std::size_t prior_since_ = 0;  // results that were there before the priors
  std::size_t starts_ = 0;       // trials before the first one that is drawn
  bool first_lost_ = false;
  Deduplicator dedup_;
  History history_;
  std::vector<Point> points_;  // of the results in history_
  RunningTrials<std::vector<double>> running_;
};

}  // namespace attune
