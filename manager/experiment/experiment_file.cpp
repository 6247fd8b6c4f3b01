#include "manager/experiment/experiment_file.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>

#include "manager/experiment/experiment_rules.h"
#include "manager/experiment/experiment_space.h"
#include "manager/experiment/experiment_trial.h"
#include "manager/experiment/program_section.h"
#include "manager/experiment/section.h"
#include "manager/experiment/user_text.h"
#include "manager/experiment/yaml.h"
#include "os/log.h"

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
                                        "learnFrom",
                                        "useAnnotation",
                                        "nniManagerIp",
                                        "tunerGpuIndices",
                                        "experimentType",
                                        "plugins",
                                        "export",
                                        "deprecated"};
// Of the forms of manager/interchange those to which a trial can be added.
const std::vector<std::string> kLiveExports = {"jsonl", "optuna", "tensorboard"};
constexpr const char* kDefaultTuner = "auto";
const std::vector<std::string> kAlgorithmKeys = {"name", "className", "codeDirectory", "classArgs",
                                                 "timeout"};
const std::vector<std::string> kServiceKeys = {"platform", "useActiveGpu", "maxTrialNumberPerGpu",
                                               "gpuIndices", "reuseMode"};
const std::vector<std::string> kDeprecatedKeys = {"multiThread", "multiPhase",
                                                  "includeIntermediateResults"};

json read_algorithm(const Section& top, const std::string& key, const fs::path& base) {
  const auto section = top.section(key);
  if (!section) return nullptr;
  std::vector<std::string> keys = kAlgorithmKeys;
  if (key == "assessor") {
    keys.emplace_back("stoppedTrials");
    section->choice("stoppedTrials", {"ignore", "last", "worst", "extrapolated"});
  }
  section->check_keys(keys);
  section->text("name");
  section->text("className");
  const bool named = section->find("name") != nullptr || section->wrong("name");
  const bool by_class = section->find("className") != nullptr || section->wrong("className");
  const bool neither = !named && !by_class;
  if ((named && by_class) || (neither && key != "tuner"))
    section->error("", "exactly one of name and className is needed");
  section->section("classArgs");
  json algorithm = section->value();
  if (neither) algorithm["name"] = kDefaultTuner;
  if (const auto directory = section->text("codeDirectory"); directory || by_class)
    algorithm["codeDirectory"] = (base / directory.value_or(".")).lexically_normal().string();
  if (!by_class && section->find("timeout") != nullptr)
    section->error("timeout", "it belongs to a className: the time of one call");
  if (const auto timeout = section->duration("timeout")) algorithm["timeout"] = *timeout;
  return algorithm;
}

// A text is a file NAME.so or a command line; an object says which. A command runs in `directory`.
json read_plugin(const Section& plugin, const fs::path& base) {
  plugin.check_keys({"file", "command", "timeout", "directory", "environment"});
  const auto absolute = [&](const std::string& path) {
    return (base / path).lexically_normal().string();
  };
  json spec = json::object();
  const bool has_file = plugin.find("file") != nullptr;
  if (has_file == (plugin.find("command") != nullptr)) {
    plugin.error("", "exactly one of file and command is needed");
  } else if (has_file) {
    if (const auto file = plugin.text("file")) spec["file"] = absolute(*file);
    for (const char* key : {"timeout", "directory", "environment"}) {
      if (plugin.find(key) != nullptr) plugin.error(key, "it belongs to a command");
    }
  } else {
    const bool list = plugin.find("command")->is_array();
    if (list) {
      spec["command"] = plugin.texts("command");
    } else if (const auto text = plugin.text("command")) {
      spec["command"] = *text;
    }
    if (const auto timeout = plugin.duration("timeout")) spec["timeout"] = *timeout;
    spec["directory"] = absolute(plugin.text("directory").value_or("."));
    TaskProgram program;
    read_environment(plugin, [](const auto&, const auto&, const auto&) {}, program);
    for (auto& [name, value] : program.environment) spec["environment"][name] = std::move(value);
  }
  return spec;
}

std::vector<json> read_plugins(const Section& top, const fs::path& base) {
  std::vector<json> specs;
  const json* list = top.find("plugins");
  if (list == nullptr) return specs;
  if (!list->is_array()) {
    top.error("plugins", "a list of files and commands expected");
    return specs;
  }
  for (std::size_t i = 0; i < list->size(); ++i) {
    const json& each = (*list)[i];
    if (each.is_string()) {
      const auto& text = each.get_ref<const std::string&>();
      specs.push_back(text.ends_with(".so")
                          ? json{{"file", (base / text).lexically_normal().string()}}
                          : json{{"command", text}, {"directory", base.string()}});
    } else if (const auto plugin = top.element("plugins", i)) {
      specs.push_back(read_plugin(*plugin, base));
    }
  }
  return specs;
}

// The key is a number, a list of numbers, or a text such as "0,2", as in NNI.
std::vector<int> read_gpu_indices(const Section& service) {
  std::vector<int> indices;
  const json* value = service.find("gpuIndices");
  if (value == nullptr) return indices;
  json list = value->is_array() ? *value : json::array({*value});
  if (value->is_string())
    list = parse_json("[" + value->get<std::string>() + "]").value_or(json::array({nullptr}));
  for (const json& item : list) {
    if (!item.is_number_integer() || item < 0 || item > 1000) {
      service.error("gpuIndices", "numbers of GPUs expected, such as [0, 2] or \"0,2\"");
      return {};
    }
    indices.push_back(item);
  }
  return indices;
}

// Reads keys of NNI. Those that would have an effect that attune does not have are refused. The
// others are checked, and most of them have no effect.
void read_platform(const Section& top, Experiment& result) {
  if (top.boolean("useAnnotation").value_or(false))
    top.error("useAnnotation", "annotated trial code is not supported");
  top.text("nniManagerIp");
  if (const auto type = top.text("experimentType"); type && *type != "hpo")
    top.error("experimentType", "only hpo is supported");
  const auto service = top.section("trainingService");
  if (!service) return;
  service->check_keys(kServiceKeys);
  const auto platform = service->text("platform");
  if (!platform) {
    service->error("platform", "missing; only local is supported");
  } else if (*platform != "local") {
    service->error("platform", fmt::format("only local is supported, not \"{}\"", *platform));
  }
  service->boolean("useActiveGpu");
  service->boolean("reuseMode");
  result.program.trials_per_gpu =
      static_cast<int>(service->integer("maxTrialNumberPerGpu", 1, 1000).value_or(1));
  result.gpu_indices = read_gpu_indices(*service);
}

std::vector<std::string> read_exports(const Section& top) {
  std::vector<std::string> exports = top.texts("export");
  for (const std::string& each : exports) {
    if (std::ranges::find(kLiveExports, each) == kLiveExports.end())
      top.error("export", fmt::format("\"{}\" cannot be written while the experiment runs; {} can",
                                      each, fmt::join(kLiveExports, ", ")));
  }
  std::ranges::sort(exports);
  const auto [end, last] = std::ranges::unique(exports);
  exports.erase(end, last);
  return exports;
}

constexpr std::size_t kMaxName = 1000;

void read_limits(const Section& top, Experiment& result) {
  result.name = top.text("experimentName").value_or("");
  if (result.name.size() > kMaxName)
    top.error("experimentName", fmt::format("longer than {} bytes", kMaxName));
  result.trial_concurrency =
      static_cast<int>(top.integer("trialConcurrency", 1, 100'000).value_or(1));
  result.max_trial_number = top.integer("maxTrialNumber", 1, 1'000'000'000);
  result.max_experiment_seconds = top.duration("maxExperimentDuration");
  result.max_trial_seconds = top.duration("maxTrialDuration");
  if (const auto seed = top.integer("seed", 0, std::int64_t{1} << 53))
    result.seed = static_cast<std::uint64_t>(*seed);
}

std::string read_log_level(const Section& top) {
  const bool debug = top.boolean("debug").value_or(false);
  std::string level = top.text("logLevel").value_or(debug ? "debug" : "info");
  if (auto parsed = parse_log_level(level); !parsed) top.error("logLevel", parsed.error().message);
  return level;
}

void read_command(const Section& top, const fs::path& base, Experiment& result) {
  result.program.command = read_shell_command(top, "trialCommand");
  if (result.program.command.empty() && result.backend != "simulated")
    top.error("trialCommand", "missing: the shell command of a trial");
  result.program.code_directory = read_code_directory(top, "trialCodeDirectory", base);
}

void read_algorithms(const Section& top, const fs::path& base, Experiment& result) {
  result.tuner = read_algorithm(top, "tuner", base);
  result.assessor = read_algorithm(top, "assessor", base);
  result.advisor = read_algorithm(top, "advisor", base);
  if (!result.tuner.is_null() && !result.advisor.is_null())
    top.error("advisor", "there is also a tuner; keep one of them");
  if (!result.advisor.is_null() && !result.assessor.is_null())
    result.warnings.push_back(top.remark(
        "assessor",
        "it has no effect beside an advisor; with the key tuner in its place both work"));
  if (result.tuner.is_null() && result.advisor.is_null()) result.tuner = {{"name", kDefaultTuner}};
  const json& searcher = result.tuner.is_null() ? result.advisor : result.tuner;
  const auto arguments = searcher.find("classArgs");
  if (result.seed && arguments != searcher.end() && arguments->contains("seed"))
    top.error("seed", "there is also a seed in classArgs; keep one of them");
}

// Where a document comes from. Some checks are only for `user`: the version of attune that stored a
// document had accepted it.
enum class Origin { user, store };

struct Source {
  fs::path file;
  fs::path working_directory;  // the default of experimentWorkingDirectory
  std::string backend;         // replaces that of the document, unless empty
  Origin origin = Origin::user;
};

TrialSetting trial_setting(const Section& top, const SpaceSection& space, const Experiment& result,
                           bool of_user) {
  TrialSetting setting;
  setting.space = space.space ? &*space.space : nullptr;
  setting.objective = result.objectives.empty() ? "default" : result.objectives.front().metric;
  if (top.wrong("objectives")) setting.objective.clear();
  setting.of_user = of_user;
  return setting;
}

// Entries with a '/' are folders, relative to `base`.
std::vector<std::string> read_learn_from(const Section& top, const fs::path& base) {
  std::vector<std::string> all;
  for (const std::string& each : top.texts("learnFrom")) {
    if (each.empty()) top.error("learnFrom", "the name, id or folder of an experiment expected");
    all.push_back(each.contains('/') ? (base / each).lexically_normal().string() : each);
  }
  return all;
}

Experiment interpret(const YamlDocument& document, const Source& source, Findings& findings) {
  const Section top(document, source.file.string(), findings);
  std::vector<std::string> keys = kKeys;
  keys.insert(keys.end(), kRuleKeys.begin(), kRuleKeys.end());
  keys.insert(keys.end(), kTrialKeys.begin(), kTrialKeys.end());
  top.check_keys(keys);

  std::error_code error;
  const fs::path base = fs::absolute(source.file, error).parent_path();
  const bool of_user = source.origin == Origin::user;
  Experiment result;
  read_limits(top, result);
  read_platform(top, result);
  read_rules(top, result);
  if (of_user) check_simulation(top);
  if (!source.backend.empty()) result.backend = source.backend;
  result.warnings = without_effect(top, result);
  result.document = document.value;
  if (of_user) {
    result.file = source.file.string();
    result.marks = document.marks;
  }
  SpaceSection space = read_space_section(top, source.file.parent_path());
  result.search_space = space.value;
  if (of_user && space.sound) check_initial_points(top, *space.space);
  read_command(top, base, result);
  result.pool = read_pool_settings(top.section("pool"), base.string());
  result.slurm = read_slurm_section(top.section("slurm"));
  if (result.backend == "slurm" && !top.wrong("slurm") && !top.wrong("resources"))
    check_slurm_jobs(top, result.slurm.settings, result.trial.resources);
  if (result.backend != "simulated") {  // a simulation runs no program, and may have no command
    TrialWords words = read_trial(top, trial_setting(top, space, result, of_user), result.program);
    result.placeholders = std::move(words.placeholders);
    std::ranges::move(words.warnings, std::back_inserter(result.warnings));
    if (result.program.in_step && !may_be_in_step(result)) {
      result.warnings.push_back(
          top.remark(kDecisions,
                     "it has no effect with this `report`: only a trial that reports "
                     "by .nni/metrics can wait for a decision"));
      result.program.in_step = false;
    }
  }
  const auto working = top.text("experimentWorkingDirectory");
  result.working_directory = working ? (base / *working).lexically_normal()
                                     : fs::absolute(source.working_directory, error);
  result.log_level = read_log_level(top);
  result.learn_from = read_learn_from(top, base);
  result.plugins = read_plugins(top, base);
  result.exports = read_exports(top);
  read_algorithms(top, base, result);
  if (const auto deprecated = top.section("deprecated")) {
    deprecated->check_keys(kDeprecatedKeys);
    result.include_intermediate_results =
        deprecated->boolean("includeIntermediateResults").value_or(false);
  }
  if (space.space) result.space = *std::move(space.space);
  return result;
}

// Nothing if there are findings.
std::optional<Experiment> interpret_all(const std::optional<YamlDocument>& document,
                                        const Source& source, Findings& findings) {
  if (!document) return std::nullopt;
  const std::string file = source.file.string();
  if (!document->value.is_object()) {
    findings.add({file, "", {}, "an object of keys expected (searchSpace, trialCommand, ...)"});
    return std::nullopt;
  }
  for (const char* key : {"trainingServicePlatform", "authorName"}) {
    if (!document->value.contains(key)) continue;
    findings.add({file, "", document->mark(key),
                  fmt::format("{} is of NNI's version 1 schema; write the file in version 2 "
                              "(trialCommand, tuner: {{name, classArgs}}, ...)",
                              key)});
    return std::nullopt;
  }
  Experiment experiment = interpret(*document, source, findings);
  if (!findings.empty()) return std::nullopt;
  return experiment;
}

}  // namespace

Result<Experiment> read_experiment_file(const fs::path& file, const fs::path& working_directory,
                                        const std::string& backend) {
  return read_experiment(TRY(read_user_text(file)), file, working_directory, backend);
}

Result<Experiment> read_experiment(const std::string& text, const fs::path& file,
                                   const fs::path& working_directory, const std::string& backend) {
  Findings findings;
  auto experiment = interpret_all(parse_yaml(text, file.string(), findings),
                                  {file, working_directory, backend, Origin::user}, findings);
  TRY(findings.result());
  return *std::move(experiment);
}

Result<Experiment> read_stored_experiment(const json& document, const fs::path& directory) {
  Findings findings;
  auto experiment =
      interpret_all(YamlDocument::without_places(document),
                    {directory / "experiment", directory, "", Origin::store}, findings);
  TRY(findings.result());
  return *std::move(experiment);
}

Result<Space> check_resumable(const Experiment& experiment) {
  // As text and back, because the store keeps text: dump_json() writes NaN as null.
  Experiment resumed =
      TRY(read_stored_experiment(TRY(parse_json(dump_json(to_document(experiment)))), {}));
  // The placeholders must be the same. Otherwise {width} would be replaced by this manager, and be
  // the text "{width}" for one that resumes, or the other way round.
  std::vector<std::string> changed;
  std::ranges::set_symmetric_difference(experiment.placeholders, resumed.placeholders,
                                        std::back_inserter(changed));
  if (changed.empty()) return std::move(resumed.space);
  const auto& before = experiment.placeholders;
  return fail(std::ranges::binary_search(before, changed.front())
                  ? fmt::format("{{{0}}} is a placeholder, and the new search space has no {0}",
                                changed.front())
                  : fmt::format("{{{0}}} is no placeholder so far; a new parameter needs another "
                                "name than {0}",
                                changed.front()));
}

}  // namespace attune
