#pragma once
// Reading and writing the numbers of a saved state (Tuner::save, Assessor::save). A state comes
// from a file that may be damaged: every reader returns an error instead of throwing.
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "base/result.h"

namespace attune {

// NaN is written as null, and read back as NaN. Infinities are not for here: they become NaN.
json save_number(double x);
json save_numbers(std::span<const double> numbers);
Result<double> number(const json& value);
Result<std::vector<double>> numbers(const json& value);

// The member `key` of an object, of the demanded type; errors name the key.
Result<json> array_at(const json& object, std::string_view key);
Result<json> object_at(const json& object, std::string_view key);
Result<std::int64_t> integer_at(const json& object, std::string_view key);
Result<double> number_at(const json& object, std::string_view key);

}  // namespace attune
