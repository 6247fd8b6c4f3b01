#include "manager/interchange/flat_names.h"

#include <cstdint>

namespace attune {
namespace {

json flat_value(const json& value) {
  const bool flat = value.is_number() || value.is_boolean() || value.is_string();
  return flat ? value : json(dump_json(value));
}

}  // namespace

std::string candidate_text(const json& candidate) {
  const json& named =
      candidate.is_object() && candidate.contains("_name") ? candidate["_name"] : candidate;
  return named.is_string() ? named.get<std::string>() : dump_json(named);
}

std::vector<std::string> flat_names(const Space& space) {
  std::vector<std::string> names;
  for (const Param& param : space.params) {
    std::string name = param.name;
    if (param.condition) {
      const Param& parent = space.params[param.condition->parent];
      const auto& options = std::get<Choice>(parent.domain).candidates;
      name = names[param.condition->parent] + "." +
             candidate_text(options[param.condition->branch]) + "." + name;
    }
    names.push_back(std::move(name));
  }
  return names;
}

std::vector<std::pair<std::string, json>> flat_parameters(const Space& space,
                                                          const std::vector<std::string>& names,
                                                          const json& parameters) {
  std::vector<std::pair<std::string, json>> flat;
  const auto point = point_from_json(space, parameters);
  for (std::size_t i = 0; point && i < names.size(); ++i) {
    if (!point->active(i)) continue;
    const Domain& domain = space.params[i].domain;
    const double value = point->values[i];
    if (const auto* choice = std::get_if<Choice>(&domain)) {
      const json& candidate = choice->candidates[static_cast<std::size_t>(value)];
      flat.emplace_back(names[i],
                        choice->nested ? json(candidate_text(candidate)) : flat_value(candidate));
    } else if (const auto* subset = std::get_if<Subset>(&domain)) {
      json chosen = json::array();
      for (std::size_t k = 0; k < subset->candidates.size(); ++k)
        if ((static_cast<std::uint64_t>(value) >> k & 1) != 0)
          chosen.push_back(subset->candidates[k]);
      flat.emplace_back(names[i], flat_value(chosen));
    } else if (std::holds_alternative<IntRange>(domain)) {
      flat.emplace_back(names[i], static_cast<std::int64_t>(value));
    } else {
      flat.emplace_back(names[i], value);
    }
  }
  if (!point && parameters.is_object()) {
    for (const auto& [name, value] : parameters.items()) flat.emplace_back(name, flat_value(value));
  }
  return flat;
}

}  // namespace attune
