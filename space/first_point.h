#pragma once
// The point that the user wants to have tried first.
#include <optional>

#include "space/space.h"

namespace attune {

// Nothing if the space states no default and no prior. Otherwise each parameter takes its default;
// else the value that its prior prefers; else the middle: the median of a number, the first
// candidate of a choice, or the middle one of ascending numbers. If that breaks a constraint, the
// parameters of the last kind are drawn, always in the same way. The point may break a constraint
// all the same.
std::optional<Point> first_point(const Space& space);

}  // namespace attune
