#include "runner/section.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <span>

#include "base/arguments.h"

namespace attune {

namespace {

using Unit = std::pair<std::string_view, double>;

// A JSON number, or a text of a number and one of the units; nothing for anything else.
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
  json plain = value;  // 512MB, 512 MB and 512M are one
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

std::unexpected<Error> Section::error(const std::string& key, const std::string& what) const {
  const std::string path = path_of(key);
  return fail(fmt::format("{}:{}: {}{}{}", file_, document_.line(path), path,
                          path.empty() ? "" : ": ", what));
}

Result<void> Section::check_keys(const std::vector<std::string>& known) const {
  for (const auto& [key, value] : object_.items()) {
    if (std::ranges::find(known, key) != known.end()) continue;
    const std::string near = nearest_name(key, known);
    return error(key, near.empty()
                          ? fmt::format("unknown key; known are {}", fmt::join(known, ", "))
                          : fmt::format("unknown key; did you mean \"{}\"?", near));
  }
  return {};
}

const json* Section::find(const std::string& key) const {
  const auto found = object_.find(key);
  return found == object_.end() || found->is_null() ? nullptr : &*found;
}

Result<std::optional<std::string>> Section::text(const std::string& key) const {
  const json* value = find(key);
  if (value == nullptr) return std::nullopt;
  if (!value->is_string()) return wrong_type(key, "a text", *value);
  return value->get<std::string>();
}

Result<std::optional<bool>> Section::boolean(const std::string& key) const {
  const json* value = find(key);
  if (value == nullptr) return std::nullopt;
  if (!value->is_boolean()) return wrong_type(key, "true or false", *value);
  return value->get<bool>();
}

Result<std::optional<std::int64_t>> Section::integer(const std::string& key, std::int64_t low,
                                                     std::int64_t high) const {
  const json* value = find(key);
  if (value == nullptr) return std::nullopt;
  if (!value->is_number_integer()) return wrong_type(key, "a whole number", *value);
  const bool huge =
      value->is_number_unsigned() && value->get<std::uint64_t>() > static_cast<std::uint64_t>(high);
  if (huge || value->get<std::int64_t>() < low || value->get<std::int64_t>() > high) {
    return error(key, fmt::format("a whole number from {} to {} expected, not {}", low, high,
                                  dump_json(*value)));
  }
  return value->get<std::int64_t>();
}

Result<std::optional<double>> Section::duration(const std::string& key) const {
  const json* value = find(key);
  if (value == nullptr) return std::nullopt;
  auto seconds = parse_duration(*value);
  if (!seconds) return error(key, seconds.error().message);
  return *seconds;
}

Result<std::optional<double>> Section::bytes(const std::string& key) const {
  const json* value = find(key);
  if (value == nullptr) return std::nullopt;
  auto amount = parse_bytes(*value);
  if (!amount) return error(key, amount.error().message);
  return *amount;
}

Result<std::optional<double>> Section::number(const std::string& key, double low) const {
  const json* value = find(key);
  if (value == nullptr) return std::nullopt;
  if (!value->is_number()) return wrong_type(key, "a number", *value);
  const double number = value->get<double>();
  if (!std::isfinite(number) || number < low)
    return error(key, fmt::format("a number from {:g} on expected, not {:g}", low, number));
  return number;
}

Result<std::vector<std::string>> Section::texts(const std::string& key) const {
  std::vector<std::string> result;
  const json* value = find(key);
  if (value == nullptr) return result;
  if (!value->is_array()) return wrong_type(key, "a list of texts", *value);
  for (const json& item : *value) {
    if (!item.is_string())
      return wrong_type(fmt::format("{}[{}]", key, result.size()), "a text", item);
    result.push_back(item);
  }
  return result;
}

Result<std::vector<Section>> Section::sections(const std::string& key) const {
  std::vector<Section> result;
  const json* value = find(key);
  if (value == nullptr) return result;
  if (!value->is_array()) return wrong_type(key, "a list of objects", *value);
  for (const json& item : *value) {
    const std::string name = fmt::format("{}[{}]", key, result.size());
    if (!item.is_object()) return wrong_type(name, "an object", item);
    result.push_back(Section(document_, file_, path_of(name), item));
  }
  return result;
}

Result<std::map<std::string, double>> Section::numbers(const std::string& key) const {
  std::map<std::string, double> result;
  const auto object = TRY(section(key));
  if (!object) return result;
  for (const auto& [name, value] : object->value().items()) {
    if (!value.is_number() || !std::isfinite(value.get<double>()))
      return object->wrong_type(name, "a number", value);
    result[name] = value;
  }
  return result;
}

Result<std::optional<Section>> Section::section(const std::string& key) const {
  const json* value = find(key);
  if (value == nullptr) return std::nullopt;
  if (!value->is_object()) return wrong_type(key, "an object", *value);
  return Section(document_, file_, path_of(key), *value);
}

std::unexpected<Error> Section::wrong_type(const std::string& key, std::string_view expected,
                                           const json& value) const {
  std::string shown = dump_json(value);
  if (shown.size() > 40) shown = shown.substr(0, 40) + "...";
  return error(key,
               fmt::format("{} expected, not {} ({})", expected, json_type_name(value), shown));
}

}  // namespace attune
