#pragma once
// Reads and writes CSV (RFC 4180), with values in the form in which pandas reads and writes them.
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "base/result.h"

namespace attune {

// Writes a value as a cell: a text as it is (in quotes if needed), True and False, NaN, inf and
// -inf, null as an empty cell, arrays and objects as JSON text.
std::string csv_cell(const json& value);

// Reads a cell; an empty one is null. A cell that looks like a number becomes a number, even if it
// was written as a text.
json csv_value(const std::string& cell);

// The rows of cells, without quotes. Error: a quote is not closed; names its line.
Result<std::vector<std::vector<std::string>>> parse_csv(std::string_view text);

}  // namespace attune
