#include "manager/interchange/csv.h"

#include <fmt/format.h>

#include <cmath>
#include <limits>

namespace attune {
namespace {

std::string quoted(const std::string& text) {
  std::string out = "\"";
  for (const char c : text) {
    out += c;
    if (c == '"') out += '"';
  }
  return out + "\"";
}

}  // namespace

std::string csv_cell(const json& value) {
  if (value.is_null()) return "";
  if (value.is_boolean()) return value.get<bool>() ? "True" : "False";
  if (value.is_number_float() && !std::isfinite(value.get<double>())) {
    const auto number = value.get<double>();
    return std::isnan(number) ? "NaN" : number > 0 ? "inf" : "-inf";
  }
  if (value.is_number()) return dump_json(value);
  const std::string text = value.is_string() ? value.get<std::string>() : dump_json(value);
  const bool plain = !text.empty() && text.find_first_of(",\"\r\n") == std::string::npos &&
                     text.front() != ' ' && text.back() != ' ';
  return plain ? text : quoted(text);
}

json csv_value(const std::string& cell) {
  if (cell.empty()) return nullptr;
  if (cell == "True" || cell == "true") return true;
  if (cell == "False" || cell == "false") return false;
  if (cell == "inf") return std::numeric_limits<double>::infinity();
  if (cell == "-inf") return -std::numeric_limits<double>::infinity();
  if (cell == "NaN" || cell == "nan") return std::nan("");
  // Only what begins as a number, array or object: parse_json() accepts comments, too.
  if (std::string_view("-.0123456789[{").find(cell.front()) == std::string_view::npos) return cell;
  return parse_json(cell).value_or(json(cell));
}

Result<std::vector<std::vector<std::string>>> parse_csv(std::string_view text) {
  std::vector<std::vector<std::string>> rows;
  std::vector<std::string> row;
  std::string cell;
  bool quotes = false, started = false;  // started: the row has at least one cell, perhaps empty
  int line = 1, quote_line = 0;
  const auto end_cell = [&] {
    row.push_back(std::exchange(cell, {}));
    started = true;
  };
  const auto end_row = [&] {
    if (!started && cell.empty()) return;  // an empty line
    end_cell();
    rows.push_back(std::exchange(row, {}));
    started = false;
  };
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '\n') ++line;
    if (quotes) {
      if (c != '"') {
        cell += c;
      } else if (i + 1 < text.size() && text[i + 1] == '"') {
        cell += '"';
        ++i;
      } else {
        quotes = false;
      }
    } else if (c == '"' && cell.empty()) {
      quotes = started = true;
      quote_line = line;
    } else if (c == ',') {
      end_cell();
    } else if (c == '\n') {
      end_row();
    } else if (c != '\r' || (i + 1 < text.size() && text[i + 1] != '\n')) {
      cell += c;
    }
  }
  if (quotes) return fail(fmt::format("line {}: the quotes do not end", quote_line));
  end_row();
  return rows;
}

}  // namespace attune
