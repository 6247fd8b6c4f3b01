#include "study/header.h"

#include <limits>
#include <utility>

namespace attune {
namespace {

constexpr int kFormat = 1;

json optional_json(const std::optional<int>& x) { return x ? json(*x) : json(nullptr); }

json algorithm_json(const Algorithm& algorithm) {
  return {{"name", algorithm.name}, {"arguments", algorithm.arguments}};
}

Result<json> member(const json& object, const char* key, bool (json::*is)() const noexcept) {
  const auto found = object.find(key);
  if (found == object.end() || !((*found).*is)()) {
    return fail("\"" + std::string(key) + "\" is missing, or of the wrong type");
  }
  return *found;
}

Result<Algorithm> read_algorithm(const json& value) {
  if (!value.is_object()) return fail("a tuner or an assessor must be an object");
  return Algorithm{TRY(member(value, "name", &json::is_string)).get<std::string>(),
                   value.value("arguments", json::object())};
}

Result<std::optional<int>> read_optional(const json& value) {
  if (value.is_null()) return std::nullopt;
  if (!value.is_number_integer() || value < 1 || value > std::numeric_limits<int>::max()) {
    return fail("max_trials and concurrency must be integers from 1");
  }
  return value.get<int>();
}

}  // namespace

json make_header(const json& space, const StudyOptions& options) {
  json objectives = json::array();
  for (const auto& [metric, maximize, limit] : options.objectives) {
    objectives.push_back({{"metric", metric}, {"maximize", maximize}});
    if (limit) objectives.back()["limit"] = *limit;
  }
  if (objectives.empty()) {
    objectives.push_back({{"metric", "default"}, {"maximize", options.maximize}});
  }
  json header;
  header["attune_study"] = kFormat;
  header["space"] = space;
  header["tuner"] = algorithm_json(options.tuner);
  header["assessor"] = options.assessor ? algorithm_json(*options.assessor) : json(nullptr);
  header["objectives"] = std::move(objectives);
  header["constraints"] = options.constraints;
  header["initial_points"] = options.initial_points;
  header["seed"] = options.seed;
  header["max_trials"] = optional_json(options.max_trials);
  header["concurrency"] = optional_json(options.concurrency);
  return header;
}

Result<Header> read_header(const json& line) {
  if (!line.is_object() || !line.contains("attune_study")) return fail("not the file of a study");
  if (line["attune_study"] != kFormat) {
    return fail("format " + dump_json(line["attune_study"]) + "; this version reads format " +
                std::to_string(kFormat));
  }
  Header header;
  StudyOptions& options = header.options;
  header.space = TRY(member(line, "space", &json::is_object));
  options.tuner = TRY(read_algorithm(line.value("tuner", json())));
  if (const json assessor = line.value("assessor", json()); !assessor.is_null()) {
    options.assessor = TRY(read_algorithm(assessor));
  }
  for (const json& one : TRY(member(line, "objectives", &json::is_array))) {
    if (!one.is_object()) return fail("an objective must be an object");
    Objective objective;
    objective.metric = TRY(member(one, "metric", &json::is_string));
    objective.maximize = TRY(member(one, "maximize", &json::is_boolean)).get<bool>();
    if (one.contains("limit")) {
      objective.limit = TRY(member(one, "limit", &json::is_number)).get<double>();
    }
    options.objectives.push_back(std::move(objective));
  }
  for (const json& one : TRY(member(line, "constraints", &json::is_array))) {
    if (!one.is_string()) return fail("a constraint must be a text");
    options.constraints.push_back(one);
  }
  options.initial_points =
      TRY(member(line, "initial_points", &json::is_array)).get<std::vector<json>>();
  options.seed = TRY(member(line, "seed", &json::is_number_unsigned)).get<std::uint64_t>();
  options.max_trials = TRY(read_optional(line.value("max_trials", json())));
  options.concurrency = TRY(read_optional(line.value("concurrency", json())));
  return header;
}

}  // namespace attune
