#include "manager/experiment/section.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <span>

#include "base/arguments.h"

namespace attune {

namespace {

using Unit = std::pair<std::string_view, double>;

// The value of a JSON number, or of a text that is a number and one of the units. Else nothing.
std::optional<double> parse_quantity(const json& value, std::span<const Unit> units) {
  if (value.is_number()) return value.get<double>();
  if (!value.is_string()) return std::nullopt;
  const std::string& text = value.get_ref<const std::string&>();
  double number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  const std::string_view suffix(end, static_cast<std::size_t>(text.data() + text.size() - end));
  const auto found = std::ranges::find(units, suffix, &Unit::first);
  if (error != std::errc() || found == units.end()) return std::nullopt;
  return number * found->second;
}

}  // namespace

Result<double> parse_duration(const json& value) {
  constexpr Unit kUnits[] = {{"", 1}, {"s", 1}, {"m", 60}, {"h", 3600}, {"d", 86400}};
  const auto seconds = parse_quantity(value, kUnits);
  if (seconds && std::isfinite(*seconds) && *seconds > 0) return *seconds;
  return fail(
      fmt::format("a positive number of seconds, or a text such as 90s, 10m, 1.5h or 1d "
                  "expected, not {}",
                  dump_json(value)));
}

Result<double> parse_bytes(const json& value) {
  constexpr Unit kUnits[] = {{"", 1},        {"k", 1e3},    {"K", 1e3},   {"M", 1e6},
                             {"G", 1e9},     {"T", 1e12},   {"Ki", 1024}, {"Mi", 0x1p20},
                             {"Gi", 0x1p30}, {"Ti", 0x1p40}};
  json plain = value;  // without blanks and B: 512MB, 512 MB and 512M are the same
  if (value.is_string()) {
    std::string text = value;
    std::erase(text, ' ');
    if (text.ends_with('B')) text.pop_back();
    plain = std::move(text);
  }
  const auto bytes = parse_quantity(plain, kUnits);
  if (bytes && std::isfinite(*bytes) && *bytes >= 0) return *bytes;
  return fail(
      fmt::format("a number of bytes, or a text such as 512MB, 1.5GB or 4GiB expected, "
                  "not {}",
                  dump_json(value)));
}

std::string Section::path_of(const std::string& key) const {
  return path_.empty() || key.empty() ? path_ + key : path_ + "." + key;
}

Finding Section::finding(const std::string& key, const std::string& what) const {
  const std::string path = path_of(key);
  return {file_, path, document_.mark(path), what};
}

void Section::error(const std::string& key, const std::string& what) const {
  findings_.add(finding(key, what));
}

std::string Section::remark(const std::string& key, const std::string& what) const {
  return finding(key, what).text();
}

void Section::check_keys(const std::vector<std::string>& known) const {
  for (const auto& [key, value] : object_.items()) {
    if (std::ranges::find(known, key) != known.end()) continue;
    const std::string near = nearest_name(key, known);
    error(key, near.empty() ? fmt::format("unknown key; known are {}", fmt::join(known, ", "))
                            : fmt::format("unknown key; did you mean \"{}\"?", near));
    // If the key was misspelt, a later finding that it is missing would be the same mistake.
    if (!near.empty() && find(near) == nullptr) findings_.forgive(file_, path_of(near));
  }
}

const json* Section::find(const std::string& key) const {
  const auto found = object_.find(key);
  return found == object_.end() || found->is_null() ? nullptr : &*found;
}

std::optional<std::string> Section::text(const std::string& key) const {
  const json* value = find(key);
  if (value == nullptr) return std::nullopt;
  if (value->is_string()) return value->get<std::string>();
  const std::string_view bracket = value->is_object() ? "{" : value->is_array() ? "[" : "";
  wrong_type(
      key, "a text", *value,
      bracket.empty() ? "" : fmt::format("; a text that begins with {} needs quotes", bracket));
  return std::nullopt;
}

std::optional<bool> Section::boolean(const std::string& key) const {
  const json* value = find(key);
  if (value == nullptr) return std::nullopt;
  if (value->is_boolean()) return value->get<bool>();
  wrong_type(key, "true or false", *value);
  return std::nullopt;
}

std::optional<std::int64_t> Section::integer(const std::string& key, std::int64_t low,
                                             std::int64_t high) const {
  const json* value = find(key);
  if (value == nullptr) return std::nullopt;
  if (!value->is_number_integer()) {
    wrong_type(key, "a whole number", *value);
    return std::nullopt;
  }
  const bool huge =
      value->is_number_unsigned() && value->get<std::uint64_t>() > static_cast<std::uint64_t>(high);
  if (!huge && value->get<std::int64_t>() >= low && value->get<std::int64_t>() <= high)
    return value->get<std::int64_t>();
  error(key,
        fmt::format("a whole number from {} to {} expected, not {}", low, high, dump_json(*value)));
  return std::nullopt;
}

std::optional<double> Section::duration(const std::string& key) const {
  const json* value = find(key);
  if (value == nullptr) return std::nullopt;
  const auto seconds = parse_duration(*value);
  if (seconds) return *seconds;
  error(key, seconds.error().message);
  return std::nullopt;
}

std::optional<double> Section::bytes(const std::string& key) const {
  const json* value = find(key);
  if (value == nullptr) return std::nullopt;
  const auto amount = parse_bytes(*value);
  if (amount) return *amount;
  error(key, amount.error().message);
  return std::nullopt;
}

std::optional<double> Section::number(const std::string& key, double low) const {
  const json* value = find(key);
  if (value == nullptr) return std::nullopt;
  if (!value->is_number()) {
    wrong_type(key, "a number", *value);
    return std::nullopt;
  }
  const double number = value->get<double>();
  if (std::isfinite(number) && number >= low) return number;
  error(key, fmt::format("a number from {:g} on expected, not {:g}", low, number));
  return std::nullopt;
}

std::string Section::choice(const std::string& key, const std::vector<std::string>& choices) const {
  const auto given = text(key);
  if (!given || std::ranges::find(choices, *given) != choices.end())
    return given.value_or(choices.front());
  error(key, fmt::format("\"{}\" is none of {}", *given, fmt::join(choices, ", ")));
  return choices.front();
}

std::vector<std::string> Section::texts(const std::string& key) const {
  std::vector<std::string> result;
  const json* value = find(key);
  if (value == nullptr) return result;
  if (!value->is_array()) {
    wrong_type(key, "a list of texts", *value);
    return result;
  }
  for (std::size_t i = 0; i < value->size(); ++i) {
    const json& item = (*value)[i];
    if (item.is_string()) {
      result.push_back(item);
    } else {
      wrong_type(fmt::format("{}[{}]", key, i), "a text", item);
    }
  }
  return result;
}

std::vector<Section> Section::sections(const std::string& key) const {
  std::vector<Section> result;
  const json* value = find(key);
  if (value == nullptr) return result;
  if (!value->is_array()) {
    wrong_type(key, "a list of objects", *value);
    return result;
  }
  for (std::size_t i = 0; i < value->size(); ++i) {
    if (const auto item = element(key, i)) result.push_back(*item);
  }
  return result;
}

std::optional<Section> Section::element(const std::string& key, std::size_t i) const {
  const json& item = find(key)->at(i);
  const std::string name = fmt::format("{}[{}]", key, i);
  if (item.is_object()) return Section(document_, file_, path_of(name), item, findings_);
  wrong_type(name, "an object", item);
  return std::nullopt;
}

std::map<std::string, double> Section::numbers(const std::string& key) const {
  std::map<std::string, double> result;
  const auto object = section(key);
  if (!object) return result;
  for (const auto& [name, value] : object->value().items()) {
    if (value.is_number() && std::isfinite(value.get<double>())) {
      result[name] = value;
    } else {
      object->wrong_type(name, "a number", value);
    }
  }
  return result;
}

std::optional<Section> Section::section(const std::string& key) const {
  const json* value = find(key);
  if (value == nullptr) return std::nullopt;
  if (value->is_object()) return Section(document_, file_, path_of(key), *value, findings_);
  wrong_type(key, "an object", *value);
  return std::nullopt;
}

void Section::wrong_type(const std::string& key, std::string_view expected, const json& value,
                         std::string_view cure) const {
  std::string shown = dump_json(value);
  if (shown.size() > 40) shown = shown.substr(0, 40) + "...";
  error(key,
        fmt::format("{} expected, not {} ({}){}", expected, json_type_name(value), shown, cure));
}

}  // namespace attune
