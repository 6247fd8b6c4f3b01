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

// Many numbers as one text: base64 of their little-endian doubles, every bit kept (NaN,
// infinities). A state of 10^5 trials is saved in milliseconds so, and is a third of its size in
// decimals.
json save_numbers(std::span<const double> numbers);
Result<std::vector<double>> numbers(const json& value);

// Whether a number that was read is an integer that a double holds exactly, or one of [0, end).
bool is_whole(double x);
bool is_index(double x, double end);

// The member `key` of an object, of the demanded type; errors name the key.
Result<json> value_at(const json& object, std::string_view key);
Result<std::vector<double>> numbers_at(const json& object, std::string_view key);
Result<std::string> text_at(const json& object, std::string_view key);
Result<json> array_at(const json& object, std::string_view key);
Result<json> object_at(const json& object, std::string_view key);
Result<std::int64_t> integer_at(const json& object, std::string_view key);
Result<double> number_at(const json& object, std::string_view key);

}  // namespace attune
