#pragma once
// Saves and loads points, as part of a state.
#include <span>
#include <vector>

#include "base/json.h"
#include "space/space.h"

namespace attune {

json save_point(const Point& point);

// Checks that exactly the active parameters have values, and that these are possible. With gaps
// parameters at the top may have none (Tuner::takes_gaps).
enum class Gaps { none, allowed };
Result<void> check_point(const Space& space, const Point& point, Gaps gaps = Gaps::none);
Result<Point> load_point(const Space& space, const json& state);

// Many points as one text, for histories; all of one space. `count` is how many there must be.
json save_points(std::span<const Point* const> points);
Result<std::vector<Point>> load_points(const Space& space, const json& state, std::size_t count,
                                       Gaps gaps = Gaps::none);

// Whether a value could have come from the domain; it need not be a multiple of q.
bool is_possible(const Domain& domain, double value);

}  // namespace attune
