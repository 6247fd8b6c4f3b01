#include "manager/interchange/export_table.h"

#include <unordered_set>

#include "base/python_json.h"
#include "manager/control/json_format.h"
#include "manager/interchange/csv.h"
#include "os/standard_output.h"

namespace attune {
namespace {

class Columns {
 public:
  explicit Columns(std::vector<std::string> fixed)
      : fixed_(std::move(fixed)), seen_(fixed_.begin(), fixed_.end()) {}

  void add(const json& row) {
    for (const auto& [name, value] : row.items())
      if (seen_.insert(name).second)
        (name.starts_with("parameters.") ? parameters_ : metrics_).push_back(name);
  }
  std::vector<std::string> names() const {
    std::vector<std::string> all = fixed_;
    all.insert(all.end(), metrics_.begin(), metrics_.end());
    all.insert(all.end(), parameters_.begin(), parameters_.end());
    return all;
  }

 private:
  std::vector<std::string> fixed_, metrics_, parameters_;
  std::unordered_set<std::string> seen_;
};

}  // namespace

Result<void> write_csv(const ExportTable& table, std::FILE* out) {
  Columns columns(table.columns);
  TRY(table.rows([&](const json& row) { columns.add(row); }));
  const std::vector<std::string> names = columns.names();
  std::string line;
  for (const std::string& name : names) line += (line.empty() ? "" : ",") + csv_cell(name);
  put_text(out, line + "\n");
  return table.rows([&](const json& row) {
    std::string text;
    for (const std::string& name : names) {
      if (&name != names.data()) text += ',';
      const auto found = row.find(name);
      if (found != row.end()) text += csv_cell(*found);
    }
    put_text(out, text + "\n");
  });
}

void write_line(const json& row, std::FILE* out) {
  put_text(out, dump_python_json(with_format(row)) + "\n");
}

Result<void> write_lines(const ExportTable& table, std::FILE* out) {
  return table.rows([&](const json& row) { write_line(row, out); });
}

}  // namespace attune
