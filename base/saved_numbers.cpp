#include "base/saved_numbers.h"

#include <bit>
#include <cmath>
#include <cstring>
#include <string>

#include "base/base64.h"

namespace attune {
namespace {

std::unexpected<Error> wrong(std::string_view key, std::string_view expected, const json& value) {
  return fail("saved state: \"" + std::string(key) + "\" must be " + std::string(expected) +
              ", not " + std::string(json_type_name(value)));
}

// Returns a pointer and not a copy, because columns of numbers have megabytes.
Result<const json*> find(const json& object, std::string_view key) {
  if (!object.is_object()) {
    return fail("saved state: an object expected, not " + std::string(json_type_name(object)));
  }
  const auto found = object.find(key);
  if (found == object.end()) return fail("saved state: \"" + std::string(key) + "\" is missing");
  return &*found;
}

}  // namespace

Result<json> value_at(const json& object, std::string_view key) {
  return json(*TRY(find(object, key)));
}

json save_numbers(std::span<const double> numbers) {
  // Bytes are copied as they lie in memory, so states are portable only between little-endian
  // machines.
  static_assert(std::endian::native == std::endian::little);
  std::string bytes(numbers.size_bytes(), '\0');
  if (!numbers.empty()) std::memcpy(bytes.data(), numbers.data(), bytes.size());
  return base64_encode(bytes);
}

Result<std::vector<double>> numbers(const json& value) {
  if (!value.is_string()) {
    return fail("saved state: packed numbers expected, not " + std::string(json_type_name(value)));
  }
  const std::string bytes = TRY(base64_decode(value.get_ref<const std::string&>()));
  if (bytes.size() % sizeof(double) != 0) {
    return fail("saved state: " + std::to_string(bytes.size()) + " bytes are no whole numbers");
  }
  std::vector<double> all(bytes.size() / sizeof(double));
  if (!all.empty()) std::memcpy(all.data(), bytes.data(), bytes.size());
  return all;
}

bool is_whole(double x) { return std::abs(x) <= 0x1p53 && x == std::floor(x); }

bool is_index(double x, double end) { return is_whole(x) && x >= 0 && x < end; }

Result<std::vector<double>> numbers_at(const json& object, std::string_view key) {
  return numbers(*TRY(find(object, key)));
}

Result<std::string> text_at(const json& object, std::string_view key) {
  const json& value = *TRY(find(object, key));
  if (!value.is_string()) return wrong(key, "a text", value);
  return value.get<std::string>();
}

Result<json> array_at(const json& object, std::string_view key) {
  const json& value = *TRY(find(object, key));
  if (!value.is_array()) return wrong(key, "an array", value);
  return value;
}

Result<json> object_at(const json& object, std::string_view key) {
  const json& value = *TRY(find(object, key));
  if (!value.is_object()) return wrong(key, "an object", value);
  return value;
}

Result<std::int64_t> integer_at(const json& object, std::string_view key) {
  const json& value = *TRY(find(object, key));
  if (!value.is_number_integer()) return wrong(key, "an integer", value);
  return value.get<std::int64_t>();
}

Result<bool> boolean_at(const json& object, std::string_view key) {
  const json& value = *TRY(find(object, key));
  if (!value.is_boolean()) return wrong(key, "true or false", value);
  return value.get<bool>();
}

Result<double> number_at(const json& object, std::string_view key) {
  const json& value = *TRY(find(object, key));
  if (!value.is_number()) return wrong(key, "a number", value);
  const auto number = value.get<double>();
  if (!std::isfinite(number))
    return fail("saved state: \"" + std::string(key) + "\" must be finite");
  return number;
}

Result<std::set<TrialId>> trials_at(const json& object, std::string_view key) {
  const json& value = *TRY(find(object, key));
  if (!value.is_array()) return wrong(key, "an array of trial ids", value);
  std::set<TrialId> trials;
  for (const json& id : value) {
    if (!id.is_number_integer()) return wrong(key, "an array of trial ids", id);
    trials.insert(id.get<TrialId>());
  }
  return trials;
}

}  // namespace attune
