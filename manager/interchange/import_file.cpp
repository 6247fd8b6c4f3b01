#include "manager/interchange/import_file.h"

#include <fmt/format.h>

#include <array>

#include "manager/interchange/csv.h"
#include "manager/interchange/syne_tune_rows.h"
#include "os/atomic_file.h"

namespace attune {
namespace {

constexpr std::string_view kPrefix = "parameters.";
// The columns that are no parameters, in a file without columns `parameters.NAME`.
constexpr std::array kOthers = {"trial_job_id", "trialJobId", "value", "score"};

// Nothing: the row has no result.
Result<std::optional<ImportData::Record>> record_of(const json& row, const std::string& place) {
  if (!row.is_object())
    return fail(fmt::format("{}: must be an object, not {}", place, json_type_name(row)));
  ImportData::Record record;
  record.value = row.value("score", row.value("value", json()));
  // NNI exports the value as JSON inside of a text.
  if (record.value.is_string())
    record.value = parse_json(record.value.get<std::string>()).value_or(record.value);
  if (record.value.is_null()) return std::optional<ImportData::Record>();
  for (const char* key : {"trial_job_id", "trialJobId"}) {
    if (row.contains(key) && row[key].is_string()) record.trial_job_id = row[key];
  }
  record.parameter = row.value("parameters", row.value("parameter", json()));
  if (record.parameter.is_null()) {
    json prefixed = json::object(), rest = json::object();
    for (const auto& [name, value] : row.items()) {
      if (value.is_null()) continue;  // an empty cell: this trial has no such parameter
      if (name.starts_with(kPrefix)) {
        prefixed[name.substr(kPrefix.size())] = value;
      } else if (std::ranges::find(kOthers, name) == kOthers.end()) {
        rest[name] = value;
      }
    }
    record.parameter = prefixed.empty() ? std::move(rest) : std::move(prefixed);
  }
  if (!record.parameter.is_object() || record.parameter.empty())
    return fail(
        fmt::format("{}: no parameters; they stand under \"parameters\" or in columns "
                    "parameters.NAME",
                    place));
  return record;
}

Result<PlacedRows> csv_rows(const std::string& text) {
  const auto cells = TRY(parse_csv(text));
  PlacedRows rows;
  for (std::size_t i = 1; i < cells.size(); ++i) {
    const std::string place = fmt::format("row {}", i);
    if (cells[i].size() != cells[0].size())
      return fail(fmt::format("{}: has {} cells, the head of the table has {}", place,
                              cells[i].size(), cells[0].size()));
    json row = json::object();
    for (std::size_t j = 0; j < cells[i].size(); ++j) row[cells[0][j]] = csv_value(cells[i][j]);
    rows.emplace_back(place, std::move(row));
  }
  return is_syne_tune(rows) ? syne_tune_trials(rows) : rows;
}

Result<PlacedRows> json_rows(const std::string& text) {
  PlacedRows rows;
  if (const auto whole = parse_json(text); whole && whole->is_array()) {
    for (const json& row : *whole) rows.emplace_back(fmt::format("record {}", rows.size()), row);
    return rows;
  }
  std::size_t begin = 0;
  for (int line = 1; begin < text.size(); ++line) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    const std::string each = text.substr(begin, end - begin);
    begin = end + 1;
    if (each.find_first_not_of(" \t\r") == std::string::npos) continue;
    auto row = parse_json(each);
    if (!row) return fail(fmt::format("line {}: {}", line, row.error().message));
    rows.emplace_back(fmt::format("line {}", line), *std::move(row));
  }
  return rows;
}

}  // namespace

Result<std::vector<ImportData::Record>> read_import_file(const std::filesystem::path& file) {
  const std::string text = TRY(read_file(file.string()));
  const auto located = [&file](const Error& error) {
    return fail(fmt::format("{}: {}", file.string(), error.message));
  };
  if (text.starts_with("PK\3\4"))
    return fail(fmt::format("{} is a zip archive; unpack it: unzip {}", file.string(),
                            file.filename().string()));
  const auto rows = file.extension() == ".csv" ? csv_rows(text) : json_rows(text);
  if (!rows) return located(rows.error());
  std::vector<ImportData::Record> records;
  for (const auto& [place, row] : *rows) {
    auto record = record_of(row, place);
    if (!record) return located(record.error());
    if (*record) records.push_back(**std::move(record));
  }
  return records;
}

std::string import_text(std::int64_t imported, std::int64_t left_out, const std::string& why,
                        std::string_view done) {
  std::string text = fmt::format("{} results {}", imported, done);
  if (left_out != 0) text += fmt::format(", {} left out; the first: {}", left_out, why);
  return text;
}

}  // namespace attune
