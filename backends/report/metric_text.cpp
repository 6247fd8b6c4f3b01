#include "backends/report/metric_text.h"

#include <algorithm>
#include <charconv>
#include <cmath>

#include "base/trimmed.h"

namespace attune {
namespace {

std::string json_number(double number) {
  if (std::isnan(number)) return "NaN";
  if (std::isinf(number)) return number < 0 ? "-Infinity" : "Infinity";
  char text[32];
  return {text, std::to_chars(text, text + sizeof text, number).ptr};
}

// Names of groups are letters, digits and '_' of any script: nothing that JSON would escape.
void add(std::string& json, std::string_view name, double number) {
  json += json.empty() ? "{\"" : ", \"";
  json += name;
  json += "\": " + json_number(number);
}

}  // namespace

std::optional<double> read_number(std::string_view text) {
  std::string plain(trimmed(text));
  if (plain.starts_with('+') && !plain.starts_with("+-")) plain.erase(0, 1);
  // Neither "nan" nor "inf" has this letter.
  std::ranges::replace_if(plain, [](char c) { return c == 'd' || c == 'D'; }, 'e');
  double number = 0;
  const auto [end, error] = std::from_chars(plain.data(), plain.data() + plain.size(), number);
  if (end != plain.data() + plain.size() || plain.empty()) return std::nullopt;
  if (error == std::errc::result_out_of_range) {
    // The number is too large or too small; from_chars does not say which.
    const std::size_t exponent = plain.find_first_of("eE");
    if (exponent != std::string::npos && plain.substr(exponent + 1).starts_with('-')) return 0.0;
    return plain.starts_with('-') ? -HUGE_VAL : HUGE_VAL;
  }
  if (error != std::errc()) return std::nullopt;
  return number;
}

MetricText metric_text(const Regex::Match& match) {
  MetricText result;
  for (const auto& [name, text] : match.groups) {
    if (const auto number = read_number(text)) {
      add(result.json, name, *number);
    } else if (result.bad_group.empty()) {
      result.bad_group = name;
      result.bad_text = text;
    }
  }
  if (!result.json.empty()) result.json += '}';
  return result;
}

}  // namespace attune
