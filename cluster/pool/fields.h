#pragma once
// Reads members of messages, records and saved states; adds to base/saved_numbers.h. Errors name
// the key.
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "base/result.h"
#include "cluster/pool/worker_table.h"

namespace attune {

Result<std::uint64_t> count_at(const json& object, std::string_view key);
Result<bool> flag_at(const json& object, std::string_view key);
Result<std::vector<std::string>> texts_at(const json& object, std::string_view key);
// Names must follow the rule of base/names.h.
Result<std::string> name_at(const json& object, std::string_view key);
Result<std::vector<std::string>> names_at(const json& object, std::string_view key);
// Reads `task` and `lease`; `lease` must be positive.
Result<HeldLease> held_at(const json& message);

}  // namespace attune
