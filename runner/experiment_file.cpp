#include "runner/experiment_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "base/log.h"
#include "base/objective_json.h"
#include "base/trust.h"
#include "runner/experiment_rules.h"
#include "runner/section.h"
#include "runner/yaml.h"
#include "space/constraint.h"
#include "space/parse.h"

namespace attune {
namespace {

namespace fs = std::filesystem;

const std::vector<std::string> kKeys = {"experimentName",
                                        "searchSpace",
                                        "searchSpaceFile",
                                        "trialCommand",
                                        "trialCodeDirectory",
                                        "trialConcurrency",
                                        "trialGpuNumber",
                                        "maxExperimentDuration",
                                        "maxTrialNumber",
                                        "maxTrialDuration",
                                        "tuner",
                                        "assessor",
                                        "advisor",
                                        "trainingService",
                                        "logLevel",
                                        "debug",
                                        "experimentWorkingDirectory",
                                        "seed",
                                        "useAnnotation",
                                        "nniManagerIp",
                                        "tunerGpuIndices",
                                        "experimentType",
                                        "deprecated"};
constexpr const char* kDefaultTuner = "auto";
const std::vector<std::string> kAlgorithmKeys = {"name", "className", "codeDirectory", "classArgs"};
const std::vector<std::string> kServiceKeys = {"platform", "useActiveGpu", "maxTrialNumberPerGpu",
                                               "gpuIndices", "reuseMode"};
const std::vector<std::string> kDeprecatedKeys = {"multiThread", "multiPhase",
                                                  "includeIntermediateResults"};

// Of the first byte that does not continue UTF-8; npos when there is none. Overlong forms and
// surrogates are left to those who interpret the text.
std::size_t first_invalid_utf8(const std::string& text) {
  for (std::size_t i = 0; i < text.size();) {
    const auto lead = static_cast<unsigned char>(text[i]);
    const std::size_t more = lead < 0x80           ? 0
                             : (lead >> 5) == 0x06 ? 1
                             : (lead >> 4) == 0x0E ? 2
                             : (lead >> 3) == 0x1E ? 3
                                                   : 4;
    if (more == 4 || i + more >= text.size()) return i;
    for (std::size_t k = 1; k <= more; ++k) {
      if ((static_cast<unsigned char>(text[i + k]) >> 6) != 2) return i;
    }
    i += more + 1;
  }
  return std::string::npos;
}

constexpr std::size_t kMaxText = 64 << 20;

Result<std::string> read_text(const fs::path& path) {
  std::string content = TRY(read_trusted_file(path, kMaxText));
  if (const auto at = first_invalid_utf8(content); at != std::string::npos) {
    const auto line =
        std::count(content.begin(), content.begin() + static_cast<std::ptrdiff_t>(at), '\n');
    return fail(fmt::format("{}:{}: not UTF-8 (byte 0x{:02X}); save it as UTF-8", path.string(),
                            line + 1, static_cast<unsigned char>(content[at])));
  }
  return content;
}

Result<json> read_algorithm(const Section& top, const std::string& key, const fs::path& base) {
  const auto section = TRY(top.section(key));
  if (!section) return json(nullptr);
  TRY(section->check_keys(kAlgorithmKeys));
  const auto name = TRY(section->text("name"));
  const auto class_name = TRY(section->text("className"));
  const bool neither = !name && !class_name;
  if ((name && class_name) || (neither && key != "tuner")) {
    return top.error(key, "exactly one of name and className is needed");
  }
  TRY(section->section("classArgs"));
  json algorithm = section->value();
  if (neither) algorithm["name"] = kDefaultTuner;
  if (const auto directory = TRY(section->text("codeDirectory"))) {
    algorithm["codeDirectory"] = (base / *directory).lexically_normal().string();
  }
  return algorithm;
}

Result<json> read_search_space(const Section& top, const fs::path& base) {
  const auto file = TRY(top.text("searchSpaceFile"));
  const auto space = TRY(top.section("searchSpace"));
  if (file.has_value() == space.has_value()) {
    return top.error(file ? "searchSpaceFile" : "",
                     "exactly one of searchSpace and searchSpaceFile is needed");
  }
  if (space) return space->value();
  const fs::path path = (base / *file).lexically_normal();
  const std::string text = TRY(read_text(path));
  if (path.extension() != ".json") return TRY(parse_yaml(text, path.string())).value;
  auto value = parse_json(text);
  if (!value) return fail(fmt::format("{}: {}", path.string(), value.error().message));
  return value;
}

// A number, a list of numbers, or NNI's text "0,2".
Result<std::vector<int>> read_gpu_indices(const Section& service) {
  std::vector<int> indices;
  const json* value = service.find("gpuIndices");
  if (value == nullptr) return indices;
  const auto wrong = [&] {
    return service.error("gpuIndices", "numbers of GPUs expected, such as [0, 2] or \"0,2\"");
  };
  json list = value->is_array() ? *value : json::array({*value});
  if (value->is_string()) {
    auto parsed = parse_json("[" + value->get<std::string>() + "]");
    if (!parsed) return wrong();
    list = *std::move(parsed);
  }
  for (const json& item : list) {
    if (!item.is_number_integer() || item < 0 || item > 1000) return wrong();
    indices.push_back(item);
  }
  return indices;
}

// Keys that NNI has and that cannot change anything here are accepted; those that would have to
// change something are refused.
Result<LocalService> read_platform(const Section& top) {
  LocalService local;
  if (TRY(top.boolean("useAnnotation")).value_or(false)) {
    return top.error("useAnnotation", "annotated trial code is not supported");
  }
  TRY(top.text("nniManagerIp"));
  if (const auto type = TRY(top.text("experimentType")); type && *type != "hpo") {
    return top.error("experimentType", "only hpo is supported");
  }
  const auto service = TRY(top.section("trainingService"));
  if (!service) return local;
  TRY(service->check_keys(kServiceKeys));
  const auto platform = TRY(service->text("platform"));
  if (!platform) return top.error("trainingService", "platform is missing");
  if (*platform != "local") {
    return service->error("platform",
                          fmt::format("only local is supported, not \"{}\"", *platform));
  }
  TRY(service->boolean("useActiveGpu"));
  TRY(service->boolean("reuseMode"));
  local.trials_per_gpu =
      static_cast<int>(TRY(service->integer("maxTrialNumberPerGpu", 1, 1000)).value_or(1));
  local.gpu_indices = TRY(read_gpu_indices(*service));
  return local;
}

// What parse_space() says of search_space.lr._type, at the place of that key in the file.
std::unexpected<Error> misplaced(const Section& top, const std::string& message) {
  constexpr std::string_view kRoot = "search_space";
  if (top.find("searchSpace") == nullptr) return top.error("searchSpaceFile", message);
  const std::size_t colon = message.find(": ");
  if (!message.starts_with(kRoot) || colon == std::string::npos)
    return top.error("searchSpace", message);
  return top.error("searchSpace" + message.substr(kRoot.size(), colon - kRoot.size()),
                   message.substr(colon + 2));
}

constexpr std::size_t kMaxName = 1000;

Result<Experiment> read_limits(const Section& top) {
  Experiment result;
  result.name = TRY(top.text("experimentName")).value_or("");
  if (result.name.size() > kMaxName)
    return top.error("experimentName", fmt::format("longer than {} bytes", kMaxName));
  result.trial_concurrency =
      static_cast<int>(TRY(top.integer("trialConcurrency", 1, 100'000)).value_or(1));
  result.max_trial_number = TRY(top.integer("maxTrialNumber", 1, 1'000'000'000));
  result.max_experiment_seconds = TRY(top.duration("maxExperimentDuration"));
  result.max_trial_seconds = TRY(top.duration("maxTrialDuration"));
  if (const auto seed = TRY(top.integer("seed", 0, std::int64_t{1} << 53))) {
    result.seed = static_cast<std::uint64_t>(*seed);
  }
  return result;
}

Result<std::string> read_log_level(const Section& top) {
  const bool debug = TRY(top.boolean("debug")).value_or(false);
  std::string level = TRY(top.text("logLevel")).value_or(debug ? "debug" : "info");
  if (auto parsed = parse_log_level(level); !parsed) {
    return top.error("logLevel", parsed.error().message);
  }
  return level;
}

// Who has written the document; what is in a store was fine for the version that began with it.
enum class Origin { user, store };

Result<Experiment> interpret(const YamlDocument& document, const fs::path& file,
                             const fs::path& working_directory, const std::string& backend,
                             Origin origin) {
  if (!document.value.is_object()) {
    return fail(fmt::format(
        "{}: an object of keys expected (searchSpace, trialCommand, tuner, ...)", file.string()));
  }
  const Section top(document, file.string());
  if (top.find("trainingServicePlatform") != nullptr || top.find("authorName") != nullptr) {
    return fail(
        fmt::format("{}: this is NNI's version 1 schema; write it in version 2 (trialCommand, "
                    "tuner: {{name, classArgs}}, ...)",
                    file.string()));
  }
  std::vector<std::string> keys = kKeys;
  keys.insert(keys.end(), kRuleKeys.begin(), kRuleKeys.end());
  keys.insert(keys.end(), kTrialKeys.begin(), kTrialKeys.end());
  TRY(top.check_keys(keys));

  std::error_code error;
  const fs::path base = fs::absolute(file, error).parent_path();
  Experiment result = TRY(read_limits(top));
  result.local = TRY(read_platform(top));
  TRY(read_rules(top, result));
  if (!backend.empty()) result.backend = backend;
  result.warnings = without_effect(top, result);
  result.document = document.value;
  if (origin == Origin::user) {
    result.file = file.string();
    result.lines = document.lines;
  }
  result.search_space = TRY(read_search_space(top, base));
  auto parsed = parse_space(result.search_space);
  if (!parsed) return misplaced(top, parsed.error().message);
  if (auto checked = set_constraints(*parsed, result.constraints); !checked)
    return top.error("constraints", checked.error().message);
  const auto command = TRY(top.text("trialCommand"));
  if ((!command || command->empty()) && result.backend != "simulated")
    return top.error("trialCommand", "missing: the shell command of a trial");
  if (command && command->find('\0') != std::string::npos)
    return top.error("trialCommand", "a byte 0 is in it, which no command can hold");
  result.trial_command = command.value_or("");
  const std::string code = TRY(top.text("trialCodeDirectory")).value_or(".");
  result.trial_code_directory = fs::weakly_canonical(base / code, error);
  if (!fs::is_directory(result.trial_code_directory, error)) {
    return top.error("trialCodeDirectory",
                     fmt::format("{} is not a directory", result.trial_code_directory.string()));
  }
  result.pool = TRY(read_pool_settings(TRY(top.section("pool")), base.string()));
  result.slurm = TRY(read_slurm_section(TRY(top.section("slurm"))));
  if (result.backend == "slurm")
    TRY(check_slurm_jobs(top, result.slurm.settings, result.trial.resources));
  if (result.backend != "simulated") {  // a simulation runs none, and may lack what it needs
    const std::string objective =
        result.objectives.empty() ? "default" : result.objectives.front().metric;
    const bool gpus = result.trial_gpu_number || result.trial.resources.gpu > 0;
    result.program = TRY(read_trial(top, *parsed, result.trial_command, result.trial_code_directory,
                                    objective, gpus));
    if (origin == Origin::user) TRY(check_words(top, result.trial_command, result.program));
  }
  const auto working = TRY(top.text("experimentWorkingDirectory"));
  result.working_directory =
      working ? (base / *working).lexically_normal() : fs::absolute(working_directory, error);
  result.log_level = TRY(read_log_level(top));
  result.tuner = TRY(read_algorithm(top, "tuner", base));
  result.assessor = TRY(read_algorithm(top, "assessor", base));
  result.advisor = TRY(read_algorithm(top, "advisor", base));
  if (!result.tuner.is_null() && !result.advisor.is_null()) {
    return top.error("advisor", "there is also a tuner; keep one of them");
  }
  if (result.tuner.is_null() && result.advisor.is_null()) result.tuner = {{"name", kDefaultTuner}};
  const json& searcher = result.tuner.is_null() ? result.advisor : result.tuner;
  if (result.seed && searcher.value("classArgs", json::object()).contains("seed")) {
    return top.error("seed", "there is also a seed in classArgs; keep one of them");
  }
  if (const auto deprecated = TRY(top.section("deprecated"))) {
    TRY(deprecated->check_keys(kDeprecatedKeys));
    result.include_intermediate_results =
        TRY(deprecated->boolean("includeIntermediateResults")).value_or(false);
  }
  return result;
}

}  // namespace

Result<Experiment> read_experiment_file(const fs::path& file, const fs::path& working_directory,
                                        const std::string& backend) {
  return read_experiment(TRY(read_text(file)), file, working_directory, backend);
}

Result<Experiment> read_experiment(const std::string& text, const fs::path& file,
                                   const fs::path& working_directory, const std::string& backend) {
  return interpret(TRY(parse_yaml(text, file.string())), file, working_directory, backend,
                   Origin::user);
}

Result<Experiment> read_stored_experiment(const json& document, const fs::path& directory) {
  return interpret({document, {}}, directory / "experiment", directory, "", Origin::store);
}

Result<void> check_resumable(const Experiment& experiment) {
  // By way of the text: what is no JSON, a NaN, is stored as something else.
  const Experiment resumed =
      TRY(read_stored_experiment(TRY(parse_json(dump_json(to_document(experiment)))), {}));
  // Else {width} would be a parameter in one manager and the text "{width}" in the other.
  std::vector<std::string> changed;
  std::ranges::set_symmetric_difference(experiment.program.placeholders,
                                        resumed.program.placeholders, std::back_inserter(changed));
  if (changed.empty()) return {};
  const auto& before = experiment.program.placeholders;
  return fail(std::ranges::binary_search(before, changed.front())
                  ? fmt::format("{{{0}}} is a placeholder, and the new search space has no {0}",
                                changed.front())
                  : fmt::format("{{{0}}} is no placeholder so far; a new parameter needs another "
                                "name than {0}",
                                changed.front()));
}

std::string place_of(const Experiment& experiment, const std::string& key) {
  const std::string shown = key.empty() ? "" : key + ": ";
  if (experiment.file.empty()) return shown;
  const YamlDocument document{{}, experiment.lines};
  return fmt::format("{}:{}: {}", experiment.file, document.line(key), shown);
}

json daemon_parameters(const Experiment& experiment) {
  json parameters = {{"experimentName", experiment.name},
                     {"trialCommand", experiment.trial_command},
                     {"trialCodeDirectory", experiment.trial_code_directory.string()},
                     {"trialConcurrency", experiment.trial_concurrency},
                     {"logLevel", experiment.log_level},
                     {"experimentWorkingDirectory", experiment.working_directory.string()},
                     {"trainingService", {{"platform", "local"}}},
                     {"capabilities", {"sync", "pause", "checkpoint", "reason", "error"}}};
  if (experiment.max_trial_number) parameters["maxTrialNumber"] = *experiment.max_trial_number;
  if (experiment.max_experiment_seconds) {
    parameters["maxExperimentDuration"] = fmt::format("{}s", *experiment.max_experiment_seconds);
  }
  if (experiment.max_trial_seconds) {
    parameters["maxTrialDuration"] = fmt::format("{}s", *experiment.max_trial_seconds);
  }
  if (!experiment.objectives.empty()) parameters["objectives"] = to_json(experiment.objectives);
  if (!experiment.constraints.empty()) parameters["constraints"] = experiment.constraints;
  if (!experiment.tuner.is_null()) parameters["tuner"] = experiment.tuner;
  if (!experiment.assessor.is_null()) parameters["assessor"] = experiment.assessor;
  if (!experiment.advisor.is_null()) parameters["advisor"] = experiment.advisor;
  return parameters;
}

json to_document(const Experiment& experiment) {
  json document = experiment.document;
  const auto set = [&](const char* key, const auto& value) {
    if (value) document[key] = *value;
  };
  document.erase("searchSpaceFile");
  document["searchSpace"] = experiment.search_space;
  document["trialCodeDirectory"] = experiment.trial_code_directory.string();
  document["experimentWorkingDirectory"] = experiment.working_directory.string();
  document["trialConcurrency"] = experiment.trial_concurrency;
  set("maxTrialNumber", experiment.max_trial_number);
  set("maxExperimentDuration", experiment.max_experiment_seconds);
  set("maxTrialDuration", experiment.max_trial_seconds);
  if (experiment.backend != "local") document["backend"] = experiment.backend;
  document.erase("seed");  // it is in the tuner's classArgs
  if (!experiment.tuner.is_null()) document["tuner"] = experiment.tuner;
  if (!experiment.assessor.is_null()) document["assessor"] = experiment.assessor;
  if (!experiment.advisor.is_null()) document["advisor"] = experiment.advisor;
  if (!experiment.pool.coordinator.empty())
    document["pool"]["coordinator"] = experiment.pool.coordinator;
  store_templates(experiment.program, document);
  return document;
}

}  // namespace attune
