#include "manager/cli/commands/console.h"

#include <fmt/format.h>
#include <time.h>

#include <algorithm>

#include "base/terminal_text.h"
#include "os/standard_output.h"

namespace attune {
namespace {

// Widths count characters, not bytes, because names may be in any language. In UTF-8 the bytes of a
// character after the first one are 10xxxxxx.
bool begins_character(char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; }

std::size_t characters(const std::string& text) {
  return static_cast<std::size_t>(std::ranges::count_if(text, begins_character));
}

std::string cut(const std::string& text, std::size_t width) {
  std::size_t seen = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (begins_character(text[i]) && ++seen > width) return text.substr(0, i);
  }
  return text;
}

std::string one_line(std::string text) {
  std::ranges::replace_if(text, [](char c) { return c == '\n' || c == '\r' || c == '\t'; }, ' ');
  return terminal_text(text);
}

}  // namespace

void print(const Console& console, const std::string& text) { put_text(console.out, text); }

void print_text(const Console& console, const std::string& text) {
  print(console, terminal_text(text));
}

void print_json(const Console& console, const json& value) {
  print(console, dump_json(value) + "\n");
}

void JsonArray::add(const json& element) {
  print(console_, (first_ ? "" : ",\n ") + dump_json(element));
  first_ = false;
}

std::string TextTable::text(std::size_t width) const {
  std::vector<std::size_t> widths;
  for (const auto& row : rows_) {
    widths.resize(std::max(widths.size(), row.size()));
    for (std::size_t i = 0; i < row.size(); ++i)
      widths[i] = std::max(widths[i], characters(one_line(row[i])));
  }
  std::string text;
  for (const auto& row : rows_) {
    std::string line;
    for (std::size_t i = 0; i < row.size(); ++i) {
      const std::string cell = one_line(row[i]);
      line += cell + std::string(widths[i] - characters(cell) + 2, ' ');
    }
    if (width > 0) line = cut(line, width);
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + "\n";
  }
  return text;
}

std::string time_text(double time) {
  if (time == 0) return "";
  // The clock of a machine may be wrong by any amount. Clamped to years with four digits.
  constexpr double kFirst = -62'167'219'200, kLast = 253'402'300'799;
  const auto seconds = static_cast<time_t>(std::clamp(time, kFirst, kLast));
  struct tm parts = {};
  ::localtime_r(&seconds, &parts);
  char text[64];
  return {text, ::strftime(text, sizeof text, "%Y-%m-%d %H:%M:%S", &parts)};
}

std::string bytes_text(double bytes) {
  const char* unit = "B";
  for (const char* larger : {"kB", "MB", "GB", "TB"}) {
    if (bytes < 1000) break;
    bytes /= 1000;
    unit = larger;
  }
  return *unit == 'B' ? fmt::format("{:.0f} B", bytes) : fmt::format("{:.1f} {}", bytes, unit);
}

std::string number_text(double number) { return fmt::format("{:.6g}", number); }

}  // namespace attune
