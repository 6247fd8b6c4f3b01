#include "math/saved_numbers.h"

#include <cmath>
#include <limits>
#include <string>

namespace attune {
namespace {

Result<json> member(const json& object, std::string_view key) {
  if (!object.is_object()) {
    return fail("saved state: an object expected, not " + std::string(json_type_name(object)));
  }
  const auto found = object.find(key);
  if (found == object.end()) return fail("saved state: \"" + std::string(key) + "\" is missing");
  return *found;
}

std::unexpected<Error> wrong(std::string_view key, std::string_view expected, const json& value) {
  return fail("saved state: \"" + std::string(key) + "\" must be " + std::string(expected) +
              ", not " + std::string(json_type_name(value)));
}

}  // namespace

json save_number(double x) { return std::isfinite(x) ? json(x) : json(); }

json save_numbers(std::span<const double> numbers) {
  json saved = json::array();
  for (const double x : numbers) saved.push_back(save_number(x));
  return saved;
}

Result<double> number(const json& value) {
  if (value.is_null()) return std::numeric_limits<double>::quiet_NaN();
  if (!value.is_number()) {
    return fail("saved state: a number expected, not " + std::string(json_type_name(value)));
  }
  return value.get<double>();
}

Result<std::vector<double>> numbers(const json& value) {
  if (!value.is_array()) {
    return fail("saved state: numbers expected, not " + std::string(json_type_name(value)));
  }
  std::vector<double> all;
  all.reserve(value.size());
  for (const json& one : value) all.push_back(TRY(number(one)));
  return all;
}

Result<json> array_at(const json& object, std::string_view key) {
  json value = TRY(member(object, key));
  if (!value.is_array()) return wrong(key, "an array", value);
  return value;
}

Result<json> object_at(const json& object, std::string_view key) {
  json value = TRY(member(object, key));
  if (!value.is_object()) return wrong(key, "an object", value);
  return value;
}

Result<std::int64_t> integer_at(const json& object, std::string_view key) {
  const json value = TRY(member(object, key));
  if (!value.is_number_integer()) return wrong(key, "an integer", value);
  return value.get<std::int64_t>();
}

Result<double> number_at(const json& object, std::string_view key) {
  const json value = TRY(member(object, key));
  if (!value.is_number()) return wrong(key, "a number", value);
  return value.get<double>();
}

}  // namespace attune
