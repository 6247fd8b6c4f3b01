#include "dispatcher/carry_over.h"

#include <set>
#include <string>

#include "base/rng.h"
#include "space/sample.h"

namespace attune {
namespace {

constexpr int kTries = 10;  // draws for a point that meets the constraints

using Names = std::set<std::string>;

// Makes gaps of the parameters at the top that `there` does not name, and of everything in their
// options.
Point with_gaps(const Space& space, Point point, const Names& there) {
  for (std::size_t i = 0; i < space.params.size(); ++i) {
    const Param& param = space.params[i];
    const bool known =
        param.condition ? point.active(param.condition->parent) : there.contains(param.name);
    if (!known) point.values[i] = Point::kInactive;
  }
  return point;
}

}  // namespace

Result<Point> carried_point(const Tuner& tuner, const Space& space, const json& parameters,
                            Missing missing) {
  auto point = tuner.point_from(space, parameters);
  const bool open = missing == Missing::open && tuner.takes_gaps();
  if (point || !parameters.is_object() || (point_count(space) && !open)) return point;
  Names there;
  for (const auto& [key, value] : parameters.items()) there.insert(key);
  std::size_t known = 0, absent = 0;
  for (const Param& param : space.params) {
    if (!param.condition) ++(there.contains(param.name) ? known : absent);
  }
  if (absent == 0 || known < absent) return point;
  // The seed depends on the parameters alone, so that a replay draws the same.
  Rng rng = Rng(0).fork(dump_json(parameters));
  for (int i = 0; i < kTries; ++i) {
    json whole = parameters;
    const json drawn = to_json(space, sample(space, rng));
    for (const auto& [key, value] : drawn.items()) {
      if (!there.contains(key)) whole.push_back(json::object_t::value_type(key, value));
    }
    auto filled = tuner.point_from(space, whole);
    if (!filled) return filled;  // one of the given values does not fit
    if (open) return with_gaps(space, *std::move(filled), there);
    if (space.feasible(*filled)) return filled;
  }
  return point;
}

}  // namespace attune
