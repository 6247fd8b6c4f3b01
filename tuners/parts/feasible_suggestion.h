#pragma once
// Finds a suggestion that breaks no constraint, from a density that does not know the constraints.
//
// The optimum is often at the edge of a constraint. There the most promising of many candidates
// nearly always breaks it, however often one asks. The most promising of a few candidates is nearer
// to the good results, which break none. So each retry uses fewer candidates.
#include <algorithm>
#include <optional>
#include <utility>

#include "space/dedup.h"
#include "space/sample.h"
#include "space/space.h"

namespace attune {

// Returns suggest(candidates): the most promising of so many candidates. While that breaks a
// constraint, it tries again with half as many candidates each time, and in the end draws at
// random. The result may still break a constraint if little of the space is feasible. In a space
// without constraints it is the first suggestion.
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

// Like dedup(point), but in a finite space it also skips points of the grid that break a
// constraint. The dispatcher would reject each of them and ask again, and for this tuner a
// suggestion costs more than a step of the grid. It skips at most kSkipped points.
inline std::optional<Point> feasible_and_new(const Space& space, Deduplicator& dedup, Point point) {
  constexpr int kSkipped = 1000;
  auto fresh = dedup(std::move(point));
  for (int i = 0; i < kSkipped && fresh && !space.feasible(*fresh) && dedup.repeats(*fresh); ++i) {
    fresh = dedup(*std::move(fresh));
  }
  return fresh;
}

}  // namespace attune
