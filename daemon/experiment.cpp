#include "daemon/experiment.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace attune {
namespace {

const json* find(const json& object, std::string_view key) {
  if (!object.is_object()) return nullptr;
  const auto found = object.find(key);
  return found == object.end() || found->is_null() ? nullptr : &*found;
}

// {"name", "classArgs"} (v2), {"builtinTunerName", "classArgs"} (v1), or a class of the user's,
// which is added to `classes`.
Result<AlgorithmChoice> read_algorithm(const json& value, const std::string& key,
                                       const std::string& v1_key, std::vector<UserClass>& classes) {
  if (!value.is_object()) return fail(fmt::format("{}: an object with \"name\" expected", key));
  const json* name = find(value, "name");
  if (!name) name = find(value, v1_key);
  AlgorithmChoice choice;
  if (!name && find(value, "className")) {
    classes.push_back(TRY(read_user_class(value, key)));
    choice.name = classes.back().name;
  } else if (!name) {
    return fail(fmt::format("{}.name is missing (attuned --list shows the names)", key));
  } else if (!name->is_string()) {
    return fail(fmt::format("{}.name: a string expected", key));
  } else {
    choice.name = name->get<std::string>();
  }
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

Result<std::vector<std::string>> read_constraints(const json& experiment) {
  std::vector<std::string> constraints;
  const json* list = find(experiment, "constraints");
  if (!list) return constraints;
  if (!list->is_array()) return fail(R"(constraints: a list expected, as ["lr * batch < 10"])");
  for (const json& text : *list) {
    if (!text.is_string()) {
      return fail(fmt::format("constraints[{}]: a string expected, not {}", constraints.size(),
                              json_type_name(text)));
    }
    constraints.push_back(text.get<std::string>());
  }
  return constraints;
}

// What they hold is read when they are opened.
Result<std::vector<json>> read_plugins(const json& experiment) {
  const json* list = find(experiment, "plugins");
  if (!list) return std::vector<json>();
  if (!list->is_array()) return fail(R"(plugins: a list expected, as ["build/mine.so"])");
  return std::vector<json>(list->begin(), list->end());
}

Result<std::optional<Fidelity>> read_fidelity(const json& experiment) {
  const json* given = find(experiment, "fidelity");
  if (!given) return std::optional<Fidelity>();
  const auto bad = [&](const char* what) {
    return fail(
        fmt::format("fidelity{}, as {{\"metric\": \"training_iteration\", \"max\": 81}}", what));
  };
  if (!given->is_object()) return bad(": an object expected");
  Fidelity fidelity;
  if (const json* metric = find(*given, "metric")) {
    if (!metric->is_string() || metric->get<std::string>().empty()) {
      return bad(".metric: the name of a metric expected");
    }
    fidelity.metric = metric->get<std::string>();
  }
  const json* max = find(*given, "max");
  if (!max || !max->is_number_integer() || *max < 1 || *max > 1'000'000'000) {
    return bad(".max: a whole number from 1 to 1,000,000,000 expected");
  }
  fidelity.max = max->get<std::int64_t>();
  return fidelity;
}

constexpr const char* kFirstHasNoLimit =
    ".limit: the first objective is what trials are ranked by; name that one first, and what is to "
    "be kept to a limit after it";

Result<std::vector<Objective>> read_objectives(const json& experiment) {
  std::vector<Objective> objectives;
  const json* list = find(experiment, "objectives");
  if (!list) return objectives;
  if (!list->is_array() || list->empty()) {
    return fail(R"(objectives: a list expected, as [{"metric": "accuracy", "mode": "maximize"}])");
  }
  for (const json& item : *list) {
    const std::string where = fmt::format("objectives[{}]", objectives.size());
    if (!item.is_object()) {
      return fail(fmt::format("{}: an object expected, not {}", where, json_type_name(item)));
    }
    Objective objective;
    if (const json* metric = find(item, "metric")) {
      if (!metric->is_string()) return fail(where + ".metric: a string expected");
      objective.metric = metric->get<std::string>();
    }
    const json* mode = find(item, "mode");
    if (!mode || (*mode != "maximize" && *mode != "minimize")) {
      return fail(where + R"(.mode: "maximize" or "minimize" expected)");
    }
    objective.maximize = *mode == "maximize";
    if (const json* limit = find(item, "limit"); limit && !limit->is_null()) {
      if (!limit->is_number() || !std::isfinite(limit->get<double>())) {
        return fail(where + ".limit: a number expected");
      }
      if (objectives.empty()) return fail(where + kFirstHasNoLimit);
      objective.limit = limit->get<double>();
    }
    for (const Objective& other : objectives) {
      if (other.metric == objective.metric) {
        return fail(fmt::format("{}: \"{}\" is an objective already", where, objective.metric));
      }
    }
    objectives.push_back(std::move(objective));
  }
  return objectives;
}

Result<std::optional<Shared>> read_shared(const json& experiment) {
  const json* resume = find(experiment, "resume");
  if (!resume) return std::nullopt;
  if (!find(*resume, "received")) {
    return fail(R"(resume: {"received": number of answers} expected)");
  }
  Shared shared;
  for (const auto& [name, number] : {std::pair("received", &shared.received),
                                     {"acknowledged", &shared.acknowledged},
                                     {"sent", &shared.sent}}) {
    const json* given = find(*resume, name);
    if (given && !given->is_number_unsigned()) {
      return fail(fmt::format("resume.{}: a number expected, not {}", name, dump_json(*given)));
    }
    if (given) *number = given->get<std::uint64_t>();
  }
  return shared;
}

Result<StoppedTrials> read_stopped_trials(const json& assessor) {
  const json* word = find(assessor, "stoppedTrials");
  if (!word) return StoppedTrials::ignore;
  const auto known =
      word->is_string() ? parse_stopped_trials(word->get<std::string>()) : std::nullopt;
  if (known) return *known;
  return fail(fmt::format(R"(assessor.stoppedTrials: "{}" expected, not {})",
                          fmt::join(names_of_stopped_trials(), R"(", ")"), dump_json(*word)));
}

}  // namespace

Result<void> apply_objectives(Configuration& configuration) {
  const auto& objectives = configuration.context.objectives;
  if (objectives.empty()) return {};
  const std::string mode = objectives[0].maximize ? "maximize" : "minimize";
  auto agree = [&](AlgorithmChoice& choice) -> Result<void> {
    if (choice.arguments.is_null()) choice.arguments = json::object();
    if (!choice.arguments.is_object()) return {};  // whoever reads them says what is wrong
    const json given = choice.arguments.value("optimize_mode", json());
    if (!given.is_null() && given != mode) {
      return fail(fmt::format("objectives[0].mode is \"{}\", but the optimize_mode of {} is {}",
                              mode, choice.name, dump_json(given)));
    }
    // A class of the user's need not have such an argument.
    if (std::ranges::find(configuration.classes, choice.name, &UserClass::name) ==
        configuration.classes.end()) {
      choice.arguments["optimize_mode"] = mode;
    }
    return {};
  };
  TRY(agree(configuration.tuner));
  if (configuration.assessor) TRY(agree(*configuration.assessor));
  return {};
}

Result<void> read_experiment(const json& experiment, Configuration& configuration) {
  if (!experiment.is_object()) {
    return fail(fmt::format("experiment parameters: an object expected, not {}",
                            json_type_name(experiment)));
  }
  // First, because the capabilities say how the manager can be told of an error below.
  configuration.capabilities = parse_capabilities(experiment);
  configuration.classes.clear();
  const json* tuner = find(experiment, "tuner");
  const json* assessor = find(experiment, "assessor");
  // To NNI an advisor replaces tuner and assessor; to us it is a tuner that reads the reports too.
  if (const json* advisor = find(experiment, "advisor")) {
    configuration.tuner =
        TRY(read_algorithm(*advisor, "advisor", "builtinAdvisorName", configuration.classes));
    if (tuner || assessor) {
      configuration.notes.emplace_back("an advisor is given: tuner and assessor are not used");
    }
    assessor = nullptr;
  } else if (tuner) {
    configuration.tuner =
        TRY(read_algorithm(*tuner, "tuner", "builtinTunerName", configuration.classes));
  } else {
    configuration.tuner = {};
  }
  configuration.assessor.reset();
  if (assessor) {
    configuration.assessor =
        TRY(read_algorithm(*assessor, "assessor", "builtinAssessorName", configuration.classes));
    configuration.stopped_trials = TRY(read_stopped_trials(*assessor));
  }
  configuration.context.max_trials = read_count(experiment, "maxTrialNumber");
  if (!configuration.context.max_trials) {
    configuration.context.max_trials = read_count(experiment, "maxTrialNum");
  }
  configuration.context.concurrency = read_count(experiment, "trialConcurrency");
  configuration.context.objectives = TRY(read_objectives(experiment));
  configuration.context.fidelity = TRY(read_fidelity(experiment));
  configuration.constraints = TRY(read_constraints(experiment));
  // Behind those of the command line.
  for (json& spec : TRY(read_plugins(experiment))) configuration.plugins.push_back(std::move(spec));
  if (const json* name = find(experiment, "whenExhausted")) {
    configuration.when_exhausted =
        name->is_string() ? parse_when_exhausted(name->get<std::string>()) : std::nullopt;
    if (!configuration.when_exhausted) {
      return fail(
          fmt::format("whenExhausted: \"repeat\" or \"stop\" expected, not {}", dump_json(*name)));
    }
  }
  configuration.shared = TRY(read_shared(experiment));
  if (configuration.shared && !configuration.capabilities.sync) {
    return fail("resume.received needs the capability \"sync\"");
  }
  if (flag(experiment, "multiThread")) {
    configuration.notes.emplace_back(
        "multiThread is accepted and changes nothing: one ordered worker answers fast enough");
  }
  return {};
}

}  // namespace attune
