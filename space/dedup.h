#pragma once
// Keeps a tuner from proposing the same configuration twice in a finite space.
#include <optional>
#include <set>
#include <vector>

#include "base/json.h"
#include "base/result.h"
#include "space/grid.h"
#include "space/space.h"

namespace attune {

// A set of points that were proposed or imported. Points are equal if their output is: equal
// candidates of a choice are the same. All points must be of the space that the set was made for.
class SeenPoints {
 public:
  explicit SeenPoints(const Space& space);
  bool insert(const Point& point);  // false: was there already
  bool contains(const Point& point) const;
  json save() const;                     // the points, in a fixed order
  Result<void> load(const json& state);  // all or nothing

 private:
  using Key = std::vector<double>;  // canonical values, infinity where inactive

  Key key(const Point& point) const;

  std::vector<std::vector<std::size_t>> canonical_;  // of each Choice, else empty
  std::set<Key> keys_;                               // a tree: the order of save() is fixed
};

// Replaces a repeated point by the next unseen point of a grid search, until the space is
// exhausted. If a top-level parameter is continuous, nothing is replaced, and by default no point
// is remembered, because random draws repeat with probability zero there. A tuner that seeks the
// best point may well propose the same corner twice, and must know: Remember::always.
//
// A qnormal or qlognormal is discrete without bounds: it is deduplicated, and its grid goes on into
// the tails until they have no double left (38 sigma below, 8 above).
class Deduplicator {
 public:
  enum class Remember { where_draws_repeat, always };

  explicit Deduplicator(const Space& space, Remember remember = Remember::where_draws_repeat);

  // Returns the point, or in its place an unseen one. Nothing, and from then on always: every point
  // of the grid has been seen. A point of a tail that the grid does not reach could still be new,
  // but no caller continues after an end. In a continuous space a repeated point is returned as it
  // is.
  std::optional<Point> operator()(Point point);
  void add(const Point& point);  // imported or adopted: do not propose it again

  // Whether a point was seen: for a tuner that has a better idea than the grid's.
  bool repeats(const Point& point) const { return remembers_ && seen_.contains(point); }
  json save() const;
  Result<void> load(const json& state);  // all or nothing

 private:
  bool replaces_, remembers_;
  bool ended_ = false;  // the grid has no point left
  SeenPoints seen_;
  Grid grid_;
};

}  // namespace attune
