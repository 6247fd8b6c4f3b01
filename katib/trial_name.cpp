#include "katib/trial_name.h"

#include <fmt/format.h>

#include <charconv>

namespace attune::katib {
namespace {

constexpr std::int64_t kMostProposals = 1'000'000'000;
constexpr std::ptrdiff_t kHashDigits = 8;
constexpr std::size_t kMostOfExperiment = 36;  // 57 less 12 for a number and 9 for the hash

std::string label(const std::string& experiment) {
  std::string result;
  for (char c : experiment) {
    if (result.size() == kMostOfExperiment) break;
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c + 32);
    const bool letter = c >= 'a' && c <= 'z';
    const bool more = (c >= '0' && c <= '9') || c == '-';
    // A label of a service must begin with a letter.
    if (letter || (more && !result.empty())) result += c;
  }
  return result.empty() ? "trial" : result;
}

std::string hash(const Values& values) {
  std::string text;
  for (const std::string& value : values) text += fmt::format("{}:{}", value.size(), value);
  return fmt::format("{:08x}", hash_of(text) & 0xffffffff);
}

}  // namespace

std::string trial_name(const std::string& experiment, std::int64_t number, const Values& values) {
  return fmt::format("{}-{}-{}", label(experiment), number, hash(values));
}

std::optional<std::int64_t> number_in(const std::string& experiment, const std::string& name) {
  const std::string begin = label(experiment) + "-";
  if (!name.starts_with(begin)) return std::nullopt;
  std::int64_t number = 0;
  const char* const end = name.data() + name.size();
  const auto [after, error] = std::from_chars(name.data() + begin.size(), end, number);
  const bool hash_follows = end - after == kHashDigits + 1 && *after == '-';
  if (error != std::errc() || !hash_follows || number < 0 || number > kMostProposals) {
    return std::nullopt;
  }
  return number;
}

bool is_ours(const std::string& experiment, const std::string& name, const Values& values) {
  const auto number = number_in(experiment, name);
  return number && name == trial_name(experiment, *number, values);
}

}  // namespace attune::katib
