#include "space/first_point.h"

#include <algorithm>

#include "base/rng.h"
#include "space/middle.h"
#include "space/sample.h"

namespace attune {
namespace {

constexpr int kTries = 1000;  // draws for a point that meets the constraints

// `other` gives the values that the user has not stated.
template <class Other>
Point completed(const Space& space, Other&& other) {
  Point point{std::vector<double>(space.params.size(), Point::kInactive)};
  for (std::size_t i = 0; i < space.params.size(); ++i) {
    const Param& param = space.params[i];
    if (!is_active(space, point, i)) continue;
    point.values[i] = param.default_value ? *param.default_value
                      : param.prior       ? param.prior->value
                                          : other(param.domain);
  }
  return point;
}

}  // namespace

std::optional<Point> first_point(const Space& space) {
  const auto is_stated = [](const Param& param) { return param.default_value || param.prior; };
  if (std::ranges::none_of(space.params, is_stated)) return std::nullopt;
  Point point = completed(space, middle);
  Rng rng(0);
  for (int i = 0; i < kTries && !space.feasible(point); ++i) {
    point = completed(space, [&](const Domain& domain) { return sample(domain, rng); });
  }
  return point;
}

}  // namespace attune
