#pragma once
// Suggestions of a density that knows nothing of constraints.
//
// The optimum is often where a constraint ends. There the most promising of many candidates is
// nearly always one that breaks it, in every suggestion anew; one of few is nearer to the good
// results, which break none.
#include <algorithm>
#include <optional>
#include <utility>

#include "space/dedup.h"
#include "space/sample.h"
#include "space/space.h"

namespace attune {

// The point of suggest(candidates), the most promising of so many. While it breaks a constraint:
// that of ever fewer candidates, at last random draws. May break one where little of the space
// breaks none. Without constraints the first one.
template <class Count, class Suggest>
Point feasible_suggestion(const Space& space, Count candidates, Rng& rng, Suggest&& suggest) {
  constexpr int kSuggestions = 20, kDraws = 100;
  Point point = suggest(candidates);
  for (int i = 0; i < kSuggestions && !space.feasible(point); ++i) {
    candidates = std::max<Count>(candidates / 2, 1);
    point = suggest(candidates);
  }
  for (int i = 0; i < kDraws && !space.feasible(point); ++i) point = sample(space, rng);
  return point;
}

// dedup(point), in a finite space without those of the grid's points that break a constraint: for a
// tuner whose suggestions cost more than a point of a grid. At most kSkipped are left out.
inline std::optional<Point> feasible_and_new(const Space& space, Deduplicator& dedup, Point point) {
  constexpr int kSkipped = 1000;
  auto fresh = dedup(std::move(point));
  for (int i = 0; i < kSkipped && fresh && !space.feasible(*fresh) && dedup.repeats(*fresh); ++i) {
    fresh = dedup(*std::move(fresh));
  }
  return fresh;
}

}  // namespace attune
