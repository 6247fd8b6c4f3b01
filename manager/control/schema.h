#pragma once
// Schemas of the arguments of tools. They are JSON Schema, of which only what these functions make
// is understood.
#include <cstdint>
#include <string>
#include <vector>

#include "base/json.h"
#include "base/result.h"

namespace attune {

json text_schema(const std::string& description);  // 1 to 300 bytes
json word_schema(const std::string& description, const std::vector<std::string>& words);
json integer_schema(const std::string& description, std::int64_t least, std::int64_t most);
json number_schema(const std::string& description, double least, double most);
json flag_schema(const std::string& description);
// An object of any members.
json open_object_schema(const std::string& description);
json list_schema(const std::string& description, const json& elements, std::int64_t least,
                 std::int64_t most);
// The schema with a default, which is only told: a tool gets what was given.
json with_default(json schema, const json& value);
// `members`: {name: schema}. Other members are not allowed.
json object_schema(const json& members, const std::vector<std::string>& required = {});

// Checks a value that came from outside. An error names the place and what is wanted.
Result<void> check_schema(const json& schema, const json& value, const std::string& place);

}  // namespace attune
