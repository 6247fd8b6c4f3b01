#pragma once
// Exports rows as CSV or JSON Lines, one by one, so that they need not fit into memory.
#include <cstdio>
#include <functional>
#include <string>
#include <vector>

#include "base/json.h"
#include "base/result.h"

namespace attune {

struct ExportTable {
  using Each = std::function<void(const json& row)>;

  std::vector<std::string> columns;  // the first columns, which every table of this kind has
  // Calls `each` with every row, a JSON object. Each call of `rows` gives the same rows.
  std::function<Result<void>(const Each& each)> rows;
};

// The columns are table.columns, then metrics, then parameters (`parameters.NAME`); the last two in
// the order in which they first occur. Reads the rows twice, since the first line names all
// columns.
Result<void> write_csv(const ExportTable& table, std::FILE* out);
Result<void> write_lines(const ExportTable& table, std::FILE* out);
void write_line(const json& row, std::FILE* out);  // of JSON Lines

}  // namespace attune
