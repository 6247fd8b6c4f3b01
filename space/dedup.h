#pragma once
// No configuration twice in a finite space.
#include <optional>
#include <set>
#include <vector>

#include "base/json.h"
#include "base/result.h"
#include "space/grid.h"
#include "space/space.h"

namespace attune {

// The points that were proposed or imported. Equality is that of the output: candidates that are
// written alike are the same. Points must be of the space that it was made for.
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

// Replaces a repeated point by the next unseen one of a grid search, until the space is exhausted.
// Does nothing where a top-level parameter is continuous: repeats have probability zero there.
//
// A qnormal or qlognormal is discrete without bounds: it is deduplicated, and its grid goes on into
// the tails until they have no double left (38 sigma below, 8 above).
class Deduplicator {
 public:
  explicit Deduplicator(const Space& space);
  std::optional<Point> operator()(Point point);  // nothing: every point has been seen
  void add(const Point& point);                  // imported or adopted: do not propose it again

  // Whether operator() would replace it: for a tuner that has a better idea than the grid's.
  bool repeats(const Point& point) const { return enabled_ && seen_.contains(point); }
  json save() const;
  Result<void> load(const json& state);  // all or nothing

 private:
  bool enabled_;
  SeenPoints seen_;
  Grid grid_;
};

}  // namespace attune
