#pragma once
// One {"_type", "_value"} without nested options. Private to the room.
#include <expected>
#include <optional>
#include <string>
#include <string_view>

#include "base/json.h"
#include "space/space.h"

namespace attune {

inline constexpr std::size_t kMaxCandidates = 100'000;

struct DomainFlaw {
  std::string at;  // below the object: "._type", "._value[0]"
  std::string message;
};

std::expected<Domain, DomainFlaw> parse_domain(std::string_view type, const json& value);

// Checks that `value` is a list of 1 to kMaxCandidates values that can all be written as JSON. `at`
// is its place. Nothing: it is.
std::optional<DomainFlaw> flaw_of_candidates(const std::string& at, const json& value);

// The text by which candidates are compared: keys sorted; 1 and 1.0 are different.
std::string canonical_text(const json& value);

}  // namespace attune
