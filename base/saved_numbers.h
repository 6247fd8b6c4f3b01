#pragma once
// Reads and writes the numbers of a saved state (Tuner::save, Assessor::save). A state comes from a
// file that may be damaged, so each reader returns an error and never throws.
#include <cstdint>
#include <set>
#include <span>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "base/result.h"
#include "base/trial.h"

namespace attune {

// Packs numbers into one text: base64 of their little-endian doubles. It keeps every bit (NaN,
// infinities). So a state of 10^5 trials is saved in milliseconds and needs a third of the space of
// decimals. numbers() is the inverse.
json save_numbers(std::span<const double> numbers);
Result<std::vector<double>> numbers(const json& value);

// is_whole(): whether x is an integer that a double holds exactly. is_index(): whether it is also
// in [0, end).
bool is_whole(double x);
bool is_index(double x, double end);

// The member `key` of an object, which must have the type; errors name the key. number_at() accepts
// only finite numbers.
Result<json> value_at(const json& object, std::string_view key);
Result<std::vector<double>> numbers_at(const json& object, std::string_view key);
Result<std::string> text_at(const json& object, std::string_view key);
Result<json> array_at(const json& object, std::string_view key);
Result<json> object_at(const json& object, std::string_view key);
Result<std::int64_t> integer_at(const json& object, std::string_view key);
Result<double> number_at(const json& object, std::string_view key);
Result<bool> boolean_at(const json& object, std::string_view key);
// An array of trial ids; one that is listed twice counts once.
Result<std::set<TrialId>> trials_at(const json& object, std::string_view key);

}  // namespace attune
