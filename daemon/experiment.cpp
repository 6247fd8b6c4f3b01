#include "daemon/experiment.h"

#include <fmt/format.h>

namespace attune {
namespace {

const json* find(const json& object, std::string_view key) {
  if (!object.is_object()) return nullptr;
  const auto found = object.find(key);
  return found == object.end() || found->is_null() ? nullptr : &*found;
}

// {"name", "classArgs"} (v2) or {"builtinTunerName", "classArgs"} (v1).
Result<AlgorithmChoice> read_algorithm(const json& value, const std::string& key,
                                       const std::string& v1_key) {
  if (!value.is_object()) return fail(fmt::format("{}: an object with \"name\" expected", key));
  const json* name = find(value, "name");
  if (!name) name = find(value, v1_key);
  if (!name) {
    if (const json* custom = find(value, "className")) {
      return fail(fmt::format(
          "{}: custom classes ({}) cannot be loaded; name a built-in one (attuned --list)", key,
          dump_json(*custom)));
    }
    return fail(fmt::format("{}.name is missing (attuned --list shows the names)", key));
  }
  if (!name->is_string()) return fail(fmt::format("{}.name: a string expected", key));
  AlgorithmChoice choice{name->get<std::string>()};
  if (const json* arguments = find(value, "classArgs")) choice.arguments = *arguments;
  return choice;
}

std::optional<int> read_count(const json& experiment, std::string_view key) {
  const json* value = find(experiment, key);
  if (!value || !value->is_number_integer() || *value <= 0 || *value > 1'000'000'000) return {};
  return value->get<int>();
}

bool flag(const json& experiment, std::string_view key) {
  const json* value = find(experiment, key);
  const json* deprecated = find(experiment, "deprecated");
  if (!value && deprecated) value = find(*deprecated, key);
  return value && value->is_boolean() && value->get<bool>();
}

}  // namespace

Result<void> read_experiment(const json& experiment, Configuration& configuration) {
  if (!experiment.is_object()) {
    return fail(fmt::format("experiment parameters: an object expected, not {}",
                            json_type_name(experiment)));
  }
  const json* tuner = find(experiment, "tuner");
  const json* assessor = find(experiment, "assessor");
  // To NNI an advisor replaces tuner and assessor; to us it is a tuner that reads the reports too.
  if (const json* advisor = find(experiment, "advisor")) {
    configuration.tuner = TRY(read_algorithm(*advisor, "advisor", "builtinAdvisorName"));
    if (tuner || assessor) {
      configuration.notes.emplace_back("an advisor is given: tuner and assessor are not used");
    }
    assessor = nullptr;
  } else if (tuner) {
    configuration.tuner = TRY(read_algorithm(*tuner, "tuner", "builtinTunerName"));
  } else {
    return fail(
        "experiment parameters: \"tuner\" is missing; for example "
        R"("tuner": {"name": "TPE", "classArgs": {"optimize_mode": "maximize"}})");
  }
  configuration.assessor.reset();
  if (assessor) {
    configuration.assessor = TRY(read_algorithm(*assessor, "assessor", "builtinAssessorName"));
  }
  configuration.context.max_trials = read_count(experiment, "maxTrialNumber");
  if (!configuration.context.max_trials) {
    configuration.context.max_trials = read_count(experiment, "maxTrialNum");
  }
  configuration.context.concurrency = read_count(experiment, "trialConcurrency");
  configuration.capabilities = parse_capabilities(experiment);
  if (flag(experiment, "multiThread")) {
    configuration.notes.emplace_back(
        "multiThread is accepted and changes nothing: one ordered worker answers fast enough");
  }
  return {};
}

}  // namespace attune
