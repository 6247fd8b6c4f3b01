#include "dispatcher/carry_over.h"

#include <set>
#include <string>

#include "base/rng.h"
#include "space/sample.h"

namespace attune {
namespace {

constexpr int kTries = 10;  // draws for a point that meets the constraints

}  // namespace

Result<Point> carried_point(const Tuner& tuner, const Space& space, const json& parameters) {
  auto point = tuner.point_from(space, parameters);
  if (point || !parameters.is_object() || point_count(space)) return point;
  std::set<std::string> there;
  for (const auto& [key, value] : parameters.items()) there.insert(key);
  std::size_t known = 0, missing = 0;
  for (const Param& param : space.params) {
    if (!param.condition) ++(there.contains(param.name) ? known : missing);
  }
  if (missing == 0 || known < missing) return point;
  Rng rng = Rng(0).fork(dump_json(parameters));
  for (int i = 0; i < kTries; ++i) {
    json whole = parameters;
    const json drawn = to_json(space, sample(space, rng));
    for (const auto& [key, value] : drawn.items()) {
      if (!there.contains(key)) whole.push_back(json::object_t::value_type(key, value));
    }
    auto filled = tuner.point_from(space, whole);
    if (!filled) return filled;  // of what is there, something does not fit
    if (space.feasible(*filled)) return filled;
  }
  return point;
}

}  // namespace attune
