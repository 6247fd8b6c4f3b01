#pragma once
// Rows that are exported one by one, however many there are, as CSV or JSON Lines.
#include <functional>
#include <string>
#include <vector>

#include "base/json.h"
#include "base/result.h"
#include "manager/cli/commands/console.h"

namespace attune {

struct ExportTable {
  using Each = std::function<void(const json& row)>;

  std::vector<std::string> columns;  // that every table of its kind has, in front
  // Calls `each` with every row, an object; each call goes through the same rows.
  std::function<Result<void>(const Each& each)> rows;
};

// Behind the columns of the table stand metrics, then parameters (`parameters.NAME`), each as they
// first occur. Goes through the rows twice.
Result<void> write_csv(const ExportTable& table, const Console& console);
Result<void> write_lines(const ExportTable& table, const Console& console);

}  // namespace attune
