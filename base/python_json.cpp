#include "base/python_json.h"

#include <algorithm>
#include <cmath>
#include <string_view>

namespace attune {
namespace {

void append_text(const json& value, std::string& out) {
  if (value.is_object()) {
    std::string_view separator = "{";
    for (const auto& [name, member] : value.items()) {
      out.append(separator).append(dump_json(name)).push_back(':');
      append_text(member, out);
      separator = ",";
    }
    out.append(value.empty() ? "{}" : "}");
  } else if (value.is_array()) {
    std::string_view separator = "[";
    for (const json& element : value) {
      out.append(separator);
      append_text(element, out);
      separator = ",";
    }
    out.append(value.empty() ? "[]" : "]");
  } else if (value.is_number_float() && !std::isfinite(value.get<double>())) {
    const double number = value.get<double>();
    out.append(std::isnan(number) ? "NaN" : number < 0 ? "-Infinity" : "Infinity");
  } else {
    out.append(dump_json(value));
  }
}

bool is_finite(const json& value) {
  if (value.is_structured()) return std::ranges::all_of(value, is_finite);
  return !value.is_number_float() || std::isfinite(value.get<double>());
}

}  // namespace

std::string dump_python_json(const json& value) {
  if (is_finite(value)) return dump_json(value);  // with one serializer, not one for each value
  std::string text;
  append_text(value, text);
  return text;
}

}  // namespace attune
