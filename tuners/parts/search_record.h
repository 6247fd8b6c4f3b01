#pragma once
// What a tuner with a model of the losses remembers of an experiment: the results, the trials that
// run, and what was proposed. Its model is its own.
#include <cstddef>
#include <optional>
#include <set>
#include <span>
#include <vector>

#include "base/json.h"
#include "base/result.h"
#include "base/rng.h"
#include "space/dedup.h"
#include "space/features.h"
#include "space/saved_point.h"
#include "space/space.h"
#include "tuners/parts/acquisition_search.h"
#include "tuners/parts/history.h"
#include "tuners/parts/objectives.h"
#include "tuners/parts/running_trials.h"
#include "tuners/tuner.h"

namespace attune {

// Whether a model that wants so many results may be asked. From half of them on, running trials
// count: else of many at a time more would be random than of one at a time. Never without a result.
bool enough_results(std::size_t usable, std::size_t running, std::size_t wanted);

// A value. Not thread safe.
class SearchRecord {
 public:
  explicit SearchRecord(const Space& space, const Objectives& objectives = {});  // keeps copies

  const Space& space() const { return space_; }
  const Features& features() const { return features_; }
  const History& history() const { return history_; }
  const Point& point(std::size_t i) const { return points_[i]; }  // of history()

  // The trials that run, encoded: the newest of them, at most `most`, oldest first. Valid until the
  // record changes.
  std::vector<std::span<const double>> running(std::size_t most) const;

  // Those of history()[members] with the lowest losses, one for each member; the best first.
  std::vector<Point> best_points(std::span<const std::size_t> members,
                                 std::span<const double> losses, std::size_t count) const;

  bool known(const Point& point) const { return dedup_.repeats(point); }  // proposed or told

  std::set<TrialId> running_ids() const;
  std::size_t running_count() const { return running_.size(); }

  bool enough_results(std::size_t wanted) const {
    return attune::enough_results(history_.usable(), running_.size(), wanted);
  }

  // The best of `found` that was neither proposed nor told before, else draw(rng).
  Point first_unseen(std::span<const Found> found, Rng& rng) const;
  // A random point, preferably one that is new and breaks no constraint.
  Point draw(Rng& rng) const;

  // A proposal of `point`, or of another if it is known already: see Deduplicator.
  Answer propose(TrialId id, Point point);
  // A proposal of a point that is known, on purpose.
  Answer repeat(TrialId id, Point point);

  // As the functions of Tuner.
  void withdraw(TrialId id) { running_.finish(id); }
  void tell(std::span<const Outcome> outcomes);
  void adopt(TrialId id, const Point& point);

  json save() const;
  // Of the same space; all or nothing. `gaps`: of results, where the tuner takes them.
  Result<void> load(const json& state, Gaps gaps = Gaps::none);

 private:
  void learn(Point point, History::Kind kind, std::span<const double> values);

  Space space_;
  Objectives objectives_;
  Features features_;
  Deduplicator dedup_;
  History history_;
  std::vector<Point> points_;  // of history_
  RunningTrials<std::vector<double>> running_;
};

}  // namespace attune
