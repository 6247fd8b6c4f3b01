#pragma once
// CSV as RFC 4180 has it, and as pandas reads and writes it.
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "base/result.h"

namespace attune {

// A value as a cell: texts as they are (quoted when they must be), True and False, NaN, inf and
// -inf, null as nothing, arrays and objects as JSON text.
std::string csv_cell(const json& value);

// The other way round; nothing is null. What looks like a number is one.
json csv_value(const std::string& cell);

// Rows of cells, unquoted. Quotes that do not end are an error that names the line.
Result<std::vector<std::vector<std::string>>> parse_csv(std::string_view text);

}  // namespace attune
