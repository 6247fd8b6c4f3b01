#pragma once
// One {"_type", "_value"} without nested options. Private to the room.
#include <string>
#include <string_view>

#include "base/json.h"
#include "base/result.h"
#include "space/space.h"

namespace attune {

inline constexpr std::size_t kMaxCandidates = 100'000;

// The domain of a type; `path` is that of the object and begins every error.
Result<Domain> parse_domain(std::string_view path, std::string_view type, const json& value);

// A list of 1 to kMaxCandidates values that all can be written as JSON.
Result<void> check_candidates(std::string_view path, const json& value);

// The text by which candidates are equal: keys sorted, 1 and 1.0 different.
std::string canonical_text(const json& value);

}  // namespace attune
