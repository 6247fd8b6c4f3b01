#include "tuners/parts/mutation.h"

#include "space/sample.h"

namespace attune {
namespace {

// Mutations, at most, until one is new and breaks no constraint.
constexpr int kMutations = 50;

Point mutate(const Space& space, const Point& parent, Rng& rng) {
  std::vector<std::size_t> active;
  for (std::size_t i = 0; i < parent.values.size(); ++i) {
    if (parent.active(i)) active.push_back(i);
  }
  Point child = parent;
  if (active.empty()) return child;
  const std::size_t chosen = active[rng.index(active.size())];
  std::vector<bool> redrawn(parent.values.size());
  for (std::size_t i = chosen; i < parent.values.size(); ++i) {
    const auto& condition = space.params[i].condition;
    // Parents stand before their children, so one pass redraws all that depends on the chosen one.
    redrawn[i] = i == chosen || (condition && redrawn[condition->parent]);
    if (!redrawn[i]) continue;
    child.values[i] =
        is_active(space, child, i) ? sample(space.params[i].domain, rng) : Point::kInactive;
  }
  return child;
}

}  // namespace

Point mutated(const Space& space, const Deduplicator& dedup, const Point& parent, Rng& rng) {
  const auto is_bad = [&](const Point& point) {
    return point == parent || dedup.repeats(point) || !space.feasible(point);
  };
  Point next = mutate(space, parent, rng);
  for (int i = 1; i < kMutations && is_bad(next); ++i) next = mutate(space, parent, rng);
  return next;
}

}  // namespace attune
