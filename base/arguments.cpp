#include "base/arguments.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

namespace attune {
namespace {

std::string join(const std::vector<std::string>& words) {
  std::string text;
  for (const auto& word : words) text += (text.empty() ? "" : ", ") + word;
  return text;
}

std::string number_text(double x) {
  return dump_json(x == std::floor(x) && std::abs(x) < 1e15 ? json(static_cast<std::int64_t>(x))
                                                            : json(x));
}

std::string range_text(const Argument& argument) {
  if (argument.low && argument.high) {
    return " in [" + number_text(*argument.low) + ", " + number_text(*argument.high) + "]";
  }
  if (argument.low) return " of at least " + number_text(*argument.low);
  if (argument.high) return " of at most " + number_text(*argument.high);
  return "";
}

std::string expectation(const Argument& argument) {
  switch (argument.type) {
    case Argument::Type::boolean:
      return "true or false";
    case Argument::Type::integer:
      return "an integer" + range_text(argument);
    case Argument::Type::number:
      return "a number" + range_text(argument);
    case Argument::Type::text:
      return "a string";
    case Argument::Type::choice:
      return "one of " + join(argument.choices);
    case Argument::Type::object:
      return "an object";
  }
  return "";
}

bool in_range(const Argument& argument, double x) {
  return std::isfinite(x) && !(argument.low && x < *argument.low) &&
         !(argument.high && x > *argument.high);
}

// 5.0 counts as an integer, because some YAML and JavaScript writers turn 5 into it.
bool is_int64(const json& value) {
  if (value.is_number_unsigned()) return std::in_range<std::int64_t>(value.get<std::uint64_t>());
  if (!value.is_number_float()) return value.is_number_integer();
  const double x = value.get<double>();
  return std::floor(x) == x && x >= -0x1p63 && x < 0x1p63;
}

bool fits(const Argument& argument, const json& value) {
  switch (argument.type) {
    case Argument::Type::boolean:
      return value.is_boolean();
    case Argument::Type::integer:
      return is_int64(value) && in_range(argument, value.get<double>());
    case Argument::Type::number:
      return value.is_number() && in_range(argument, value.get<double>());
    case Argument::Type::text:
      return value.is_string();
    case Argument::Type::choice:
      return value.is_string() && std::ranges::find(argument.choices, value.get<std::string>()) !=
                                      argument.choices.end();
    case Argument::Type::object:
      return value.is_object();
  }
  return false;
}

using Path = std::vector<std::string>;

Path below(Path path, const std::string& name) {
  path.push_back(name);
  return path;
}

json resolve_all(const Path& path, const std::vector<Argument>& declared, const json& given,
                 std::vector<ArgumentFlaw>& flaws);

json resolve_one(const Path& path, const Argument& argument, const json* given,
                 std::vector<ArgumentFlaw>& flaws) {
  const json& value = given ? *given : argument.fallback;
  // null stays null only where it is the default.
  if (value.is_null() && argument.fallback.is_null()) return json();
  if (argument.type == Argument::Type::object && (value.is_null() || value.is_object()))
    return resolve_all(path, argument.members, value, flaws);
  if (!fits(argument, value)) {
    flaws.push_back({path, expectation(argument) + " expected" +
                               (argument.fallback.is_null() ? " (or null)" : "") + ", not " +
                               dump_json(value)});
    return json();
  }
  if (argument.type == Argument::Type::integer && value.is_number_float())
    return static_cast<std::int64_t>(value.get<double>());
  return value;
}

json resolve_all(const Path& path, const std::vector<Argument>& declared, const json& given,
                 std::vector<ArgumentFlaw>& flaws) {
  if (!given.is_object() && !given.is_null()) {
    flaws.push_back({path, "an object of arguments expected, not " + dump_json(given)});
    return json();
  }
  std::vector<std::string> names;
  for (const auto& argument : declared) names.push_back(argument.name);
  if (given.is_object()) {
    for (const auto& [name, value] : given.items()) {
      if (std::ranges::find(names, name) != names.end()) continue;
      const std::string near = nearest_name(name, names);
      std::string message =
          "unknown argument \"" + name + "\"" +
          (near.empty() ? "." : "; did you mean \"" + near + "\"?") +
          (names.empty() ? " It takes no arguments" : " Accepted: " + join(names));
      flaws.push_back({below(path, name), std::move(message), true});
    }
  }
  json resolved = json::object();
  for (const auto& argument : declared) {
    const json* value = nullptr;
    if (given.is_object()) {
      const auto found = given.find(argument.name);
      if (found != given.end()) value = &*found;
    }
    resolved[argument.name] = resolve_one(below(path, argument.name), argument, value, flaws);
  }
  return resolved;
}

char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

// The number of insertions, deletions, substitutions and swaps of neighbours (optimal string
// alignment), ignoring case.
std::size_t edit_distance(std::string_view a, std::string_view b) {
  // row[j]: the distance between a.substr(0, i) and b.substr(0, j). The last three rows are kept.
  std::vector<std::size_t> before, last, row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  const auto same = [&](std::size_t i, std::size_t j) {
    return lower(a[i - 1]) == lower(b[j - 1]);
  };
  for (std::size_t i = 1; i <= a.size(); ++i) {
    before = std::exchange(last, row);
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      row[j] = std::min({last[j - 1] + (same(i, j) ? 0 : 1), last[j] + 1, row[j - 1] + 1});
      if (i > 1 && j > 1 && same(i, j - 1) && same(i - 1, j))
        row[j] = std::min(row[j], before[j - 2] + 1);
    }
  }
  return row.back();
}

}  // namespace

std::string nearest_name(std::string_view word, const std::vector<std::string>& candidates) {
  std::string best;
  std::size_t best_distance = std::max<std::size_t>(1, word.size() / 3) + 1;
  for (const auto& candidate : candidates) {
    const std::size_t distance = edit_distance(word, candidate);
    if (distance < best_distance) {
      best_distance = distance;
      best = candidate;
    }
  }
  return best;
}

json resolve_arguments(const std::vector<Argument>& declared, const json& given,
                       std::vector<ArgumentFlaw>& flaws) {
  return resolve_all({}, declared, given, flaws);
}

Result<json> unchecked_arguments(std::string_view owner, const json& given) {
  if (given.is_null()) return json::object();
  if (!given.is_object()) return resolve_arguments(owner, {}, given);
  return given;
}

Result<json> resolve_arguments(std::string_view owner, const std::vector<Argument>& declared,
                               const json& given) {
  std::vector<ArgumentFlaw> flaws;
  json resolved = resolve_arguments(declared, given, flaws);
  if (flaws.empty()) return resolved;
  const ArgumentFlaw& first = flaws.front();
  std::string place(owner);
  for (std::size_t i = 0; i + (first.unknown ? 1 : 0) < first.path.size(); ++i)
    place += "." + first.path[i];
  return fail_at(std::move(place), first.message);
}

}  // namespace attune
