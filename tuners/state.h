#pragma once
// Points in a tuner's saved state.
#include "math/saved_numbers.h"
#include "space/space.h"

namespace attune {

json save_point(const Point& point);

// Checks that exactly the active parameters have values, and these are possible.
Result<Point> load_point(const Space& space, const json& state);

// Whether a value could have come from the domain; q is not demanded.
bool is_possible(const Domain& domain, double value);

}  // namespace attune
