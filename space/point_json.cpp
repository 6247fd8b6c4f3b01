// A point as the user's JSON.
#include "base/check.h"
#include "space/space.h"

namespace attune {
namespace {

json subset_json(const Subset& subset, std::uint64_t mask) {
  json result = {{"_value", json::array()}, {"_idx", json::array()}};
  for (std::size_t i = 0; i < subset.candidates.size(); ++i) {
    if ((mask >> i & 1) == 0) continue;
    result["_value"].push_back(subset.candidates[i]);
    result["_idx"].push_back(i);
  }
  return result;
}

json value_json(const Domain& domain, double value) {
  if (const auto* choice = std::get_if<Choice>(&domain)) {
    const auto i = static_cast<std::size_t>(value);
    ATTUNE_CHECK(i < choice->candidates.size());
    if (choice->layer) return {{"_value", choice->candidates[i]}, {"_idx", i}};
    return choice->candidates[i];
  }
  if (const auto* subset = std::get_if<Subset>(&domain)) {
    return subset_json(*subset, static_cast<std::uint64_t>(value));
  }
  if (std::holds_alternative<IntRange>(domain)) return static_cast<std::int64_t>(value);
  return value;
}

// Writes the active parameters of one object, from index i on, each with what it encloses. Appends
// without a search: looking a key up in an ordered object is linear, and a space has no name twice.
void write_members(const Space& space, const Point& point, std::size_t& i,
                   const std::optional<Condition>& scope, json& object) {
  while (i < space.params.size() && space.params[i].condition == scope) {
    const std::size_t own = i++;
    if (!point.active(own)) {
      while (i < space.params.size() && is_descendant(space.params[i], own)) ++i;
      continue;
    }
    json value = value_json(space.params[own].domain, point.values[own]);
    while (i < space.params.size() && is_descendant(space.params[i], own)) {
      const auto& condition = space.params[i].condition;
      if (condition->parent == own && is_active(space, point, i)) {
        write_members(space, point, i, condition, value);
      } else {
        ++i;  // of another option
      }
    }
    object.get_ref<json::object_t&>().emplace_back(space.params[own].name, std::move(value));
  }
}

}  // namespace

json to_json(const Space& space, const Point& point) {
  if (!space.unread.is_null()) return point.parameters;
  ATTUNE_CHECK(point.values.size() == space.params.size());
  json object = json::object();
  std::size_t i = 0;
  write_members(space, point, i, std::nullopt, object);
  return object;
}

}  // namespace attune
