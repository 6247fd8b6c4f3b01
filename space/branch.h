#pragma once
// The branches of a search space: the options of a choice at its top whose options have parameters
// of their own. Each is a search space of its own.
#include <cstddef>
#include <optional>

#include "base/rng.h"
#include "space/space.h"

namespace attune {

struct Branch {
  std::size_t choice = 0;  // index of a nested Choice without a condition
  std::size_t option = 0;  // of its candidates
};

// The first nested choice of at least two candidates that has no condition. Such a choice is the
// root of the branches.
std::optional<std::size_t> root_choice(const Space& space);

// Moves a point into a branch. Parameters that become active are drawn, in the order of the space;
// the others keep their values. It may break a hard constraint.
void enter(const Space& space, const Branch& branch, Point& point, Rng& rng);

}  // namespace attune
