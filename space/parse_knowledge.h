#pragma once
// What the user knows of a parameter: the members `_default` and `_prior` of its declaration.
// Private to the room.
#include <expected>
#include <optional>

#include "base/json.h"
#include "space/parse_domain.h"
#include "space/space.h"

namespace attune {

struct Knowledge {
  std::optional<double> default_value = {};
  std::optional<Prior> prior = {};
};

// `spec`: the whole declaration, an object. An unknown member that looks like one of these two is a
// mistake.
std::expected<Knowledge, DomainFlaw> parse_knowledge(const Domain& domain, const json& spec);

}  // namespace attune
