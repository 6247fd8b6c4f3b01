#include "study/options_json.h"

#include <fmt/format.h>

#include <limits>
#include <utility>

#include "base/members.h"

namespace attune {
namespace {

// So many objectives, constraints or points are far more than anybody means.
constexpr std::size_t kMostEntries = 10'000;

Result<Algorithm> algorithm_from(const Members& options, const char* key) {
  const json& value = options.get(key);
  if (value.is_string()) return Algorithm{value.get<std::string>(), json::object()};
  const Members members = TRY(Members::of(value, options.at(key), {"name", "arguments"}));
  Algorithm algorithm{TRY(members.text("name")), json::object()};
  if (members.has("arguments")) algorithm.arguments = members.get("arguments");
  return algorithm;
}

Result<Objective> objective_from(const json& value, std::string place) {
  const Members members =
      TRY(Members::of(value, std::move(place), {"metric", "maximize", "limit"}));
  return Objective{.metric = TRY(members.text("metric")),
                   .maximize = TRY(members.boolean("maximize")),
                   .limit = TRY(members.number("limit"))};
}

Result<std::optional<int>> count_from(const Members& options, const char* key) {
  if (!options.has(key)) return std::nullopt;
  const std::int64_t count = TRY(options.integer(key));
  if (count < 1 || count > std::numeric_limits<int>::max()) {
    return fail_at(options.at(key), "must be from 1 to 2^31 - 1");
  }
  return static_cast<int>(count);
}

Result<IfExists> if_exists_from(const Members& options) {
  const std::string text = TRY(options.text("if_exists"));
  if (text == "fail") return IfExists::fail;
  if (text == "continue") return IfExists::continue_;
  return fail_at(options.at("if_exists"), "must be \"fail\" or \"continue\"");
}

}  // namespace

Result<Durability> parse_durability(std::string_view text) {
  if (text == "never") return Durability::never;
  if (text == "each_second") return Durability::each_second;
  if (text == "always") return Durability::always;
  return fail_at("durability", "must be \"never\", \"each_second\" or \"always\"");
}

Result<StudyOptions> options_from_json(const json& value) {
  const Members given = TRY(
      Members::of(value, "options",
                  {"tuner", "assessor", "maximize", "objectives", "constraints", "initial_points",
                   "seed", "max_trials", "concurrency", "file", "if_exists", "durability"}));
  StudyOptions options;
  if (given.has("tuner")) options.tuner = TRY(algorithm_from(given, "tuner"));
  if (given.has("assessor")) options.assessor = TRY(algorithm_from(given, "assessor"));
  options.maximize = TRY(given.boolean("maximize"));
  for (const json& one : TRY(given.array("objectives", kMostEntries))) {
    const std::string place =
        fmt::format("{}[{}]", given.at("objectives"), options.objectives.size());
    options.objectives.push_back(TRY(objective_from(one, place)));
  }
  for (const json& one : TRY(given.array("constraints", kMostEntries))) {
    if (!one.is_string()) return fail_at(given.at("constraints"), "each one must be a text");
    options.constraints.push_back(one);
  }
  options.initial_points = TRY(given.array("initial_points", kMostEntries));
  if (given.has("seed")) {
    if (!given.get("seed").is_number_unsigned()) {
      return fail_at(given.at("seed"), "must be an integer from 0 to 2^64 - 1");
    }
    options.seed = given.get("seed");
  }
  options.max_trials = TRY(count_from(given, "max_trials"));
  options.concurrency = TRY(count_from(given, "concurrency"));
  if (given.has("file")) options.file = TRY(given.text("file"));
  if (given.has("if_exists")) options.if_exists = TRY(if_exists_from(given));
  if (given.has("durability")) {
    options.durability = TRY(parse_durability(TRY(given.text("durability"))));
  }
  return options;
}

}  // namespace attune
