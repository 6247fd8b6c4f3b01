#include "space/saved_point.h"

#include <bit>
#include <cmath>

#include "base/saved_numbers.h"

namespace attune {
namespace {

bool is_integer(double x, double low, double high) {
  return x >= low && x < high && x == std::floor(x);
}

bool possible(const Choice& domain, double value) {
  return is_integer(value, 0, static_cast<double>(domain.candidates.size()));
}
bool possible(const Subset& domain, double value) {
  return is_integer(value, 0, std::exp2(static_cast<double>(domain.candidates.size()))) &&
         std::popcount(static_cast<std::uint64_t>(value)) == static_cast<int>(domain.chosen);
}
bool possible(const IntRange& domain, double value) {
  return is_integer(value, static_cast<double>(domain.low), static_cast<double>(domain.high));
}
bool possible(const Uniform& domain, double value) {
  return value >= domain.low && value <= domain.high;
}
bool possible(const Normal&, double value) { return std::isfinite(value); }

}  // namespace

bool is_possible(const Domain& domain, double value) {
  return std::visit([&](const auto& d) { return possible(d, value); }, domain);
}

json save_point(const Point& point) {
  return point.parameters.is_null() ? save_numbers(point.values) : point.parameters;
}

Result<void> check_point(const Space& space, const Point& point, Gaps gaps) {
  if (space.unread.is_null() != point.parameters.is_null()) {
    return fail("saved state: a point of a space that attuned " +
                std::string(space.unread.is_null() ? "does not read" : "reads"));
  }
  if (point.values.size() != space.params.size()) {
    return fail("saved state: a point of " + std::to_string(point.values.size()) +
                " values in a space of " + std::to_string(space.params.size()));
  }
  for (std::size_t i = 0; i < space.params.size(); ++i) {
    const Param& param = space.params[i];
    const bool gap = gaps == Gaps::allowed && !param.condition && !point.active(i);
    const bool wanted = is_active(space, point, i) && !gap;
    if (point.active(i) != wanted || (wanted && !is_possible(param.domain, point.values[i]))) {
      return fail("saved state: " + param.path + ": impossible value");
    }
  }
  return {};
}

Result<Point> load_point(const Space& space, const json& state) {
  if (!space.unread.is_null()) return point_from_json(space, state);
  Point point{TRY(numbers(state))};
  TRY(check_point(space, point));
  return point;
}

json save_points(std::span<const Point* const> points) {
  if (!points.empty() && !points.front()->parameters.is_null()) {
    json all = json::array();
    for (const Point* point : points) all.push_back(save_point(*point));
    return all;
  }
  std::vector<double> values;
  for (const Point* point : points) {
    values.insert(values.end(), point->values.begin(), point->values.end());
  }
  return save_numbers(values);
}

Result<std::vector<Point>> load_points(const Space& space, const json& state, std::size_t count,
                                       Gaps gaps) {
  if (!space.unread.is_null() && count > 0) {
    if (!state.is_array() || state.size() != count) {
      return fail("saved state: not " + std::to_string(count) + " points");
    }
    std::vector<Point> points;
    for (const json& one : state) points.push_back(TRY(load_point(space, one)));
    return points;
  }
  const auto values = TRY(numbers(state));
  const std::size_t width = space.params.size();
  if (values.size() != count * width) {
    return fail("saved state: not the values of " + std::to_string(count) + " points");
  }
  std::vector<Point> points;
  points.reserve(count);
  for (auto from = values.begin(); points.size() < count;
       from += static_cast<std::ptrdiff_t>(width)) {
    points.push_back({{from, from + static_cast<std::ptrdiff_t>(width)}});
    TRY(check_point(space, points.back(), gaps));
  }
  return points;
}

}  // namespace attune
