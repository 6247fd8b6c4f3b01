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

// What is wrong with `value`, which is at `at`, unless it is a list of 1 to kMaxCandidates values
// that all can be written as JSON.
std::optional<DomainFlaw> flaw_of_candidates(const std::string& at, const json& value);

// The text by which candidates are equal: keys sorted, 1 and 1.0 different.
std::string canonical_text(const json& value);

}  // namespace attune
