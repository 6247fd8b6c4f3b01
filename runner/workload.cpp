#include "runner/workload.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <string_view>

#include "base/trust.h"
#include "coordinator/commanders/commanders.h"
#include "coordinator/operators/slurm_operator.h"
#include "coordinator/roles.h"
#include "coordinator/server/server.h"
#include "runner/experiment_file.h"
#include "runner/files.h"
#include "runner/section.h"
#include "runner/slurm_coordinator.h"
#include "runner/trial_backends.h"
#include "runner/yaml.h"

namespace attune {
namespace {

namespace fs = std::filesystem;

struct Place {
  fs::path base;       // of the file
  fs::path directory;  // of the coordinator
};

// What read_stored_experiment() says of a trial, in the words of a role.
std::unexpected<Error> misplaced(const Section& role, const Place& place,
                                 std::string_view message) {
  constexpr std::pair<std::string_view, std::string_view> kNames[] = {
      {"trialCommand", "command"},
      {"trialCodeDirectory", "codeDirectory"},
      {"environment", "environment"},
      {"resources", "needs"}};
  const std::string front = (place.directory / "experiment").string() + ":1: ";
  if (message.starts_with(front)) message.remove_prefix(front.size());
  const std::size_t colon = std::min(message.find(": "), message.size());
  const std::string_view key = message.substr(0, colon);
  for (const auto& [theirs, own] : kNames) {
    if (key == theirs || (key.starts_with(theirs) && key[theirs.size()] == '.'))
      return role.error(fmt::format("{}{}", own, key.substr(theirs.size())),
                        std::string(message.substr(std::min(colon + 2, message.size()))));
  }
  return role.error("", std::string(message));
}

// What make_commander() says of NAME.KEY, at the place of that key in the file.
std::unexpected<Error> misplaced(const Section& top, const std::string& commander,
                                 std::string_view message) {
  const std::size_t colon = message.find(": ");
  const bool placed = colon != message.npos && message.starts_with(commander + ".");
  if (!placed) return top.error("commander", std::string(message));
  const std::size_t front = commander.size() + 1;
  return top.error(std::string(message.substr(front, colon - front)),
                   std::string(message.substr(colon + 2)));
}

// What is a trial's in an experiment file is a task's here: its command and where it runs.
Result<json> program_of(const Section& role, const Place& place) {
  const auto command = TRY(role.text("command"));
  if (!command || command->empty())
    return role.error("command", "missing: the shell command of the task");
  // Before the braced list: what a list has made is lost when a TRY in it returns.
  const fs::path code = place.base / TRY(role.text("codeDirectory")).value_or(".");
  json document = {{"searchSpace", {{"none", {{"_type", "choice"}, {"_value", {0}}}}}},
                   {"trialCommand", *command},
                   {"trialCodeDirectory", code.string()},
                   {"trialConcurrency", 1},
                   {"tuner", {{"name", "Random"}}}};
  if (const json* environment = role.find("environment")) document["environment"] = *environment;
  if (const auto needs = TRY(role.section("needs")); needs && needs->find("gpu") != nullptr)
    document["resources"] = {{"gpu", *needs->find("gpu")}};  // so that they are assigned
  auto experiment = read_stored_experiment(document, place.directory);
  if (!experiment) return misplaced(role, place, experiment.error().message);
  const BackendSetup setup{*experiment, "coordinator", place.directory, {}, {}, {}, 0, {}};
  const fs::path written = TRY(write_worker_file(setup));
  // Nobody else keeps what a task saves.
  return json{
      {"experiment", written.string()}, {"sequence", 0}, {"attempt", 0}, {"keep_checkpoint", true}};
}

// {command, ...} -> {program, ...}; what else a role has is looked at by the commander.
Result<json> read_role(const Section& role, const Place& place) {
  TRY(role.check_keys({"command", "codeDirectory", "environment", "parameters", "needs", "labels",
                       "limits", "priority"}));
  json result;
  result["program"] = TRY(program_of(role, place));
  for (const char* key : {"parameters", "needs", "labels", "limits", "priority"}) {
    if (const json* value = role.find(key)) result[key] = *value;
  }
  if (result.contains("needs")) result["program"]["resources"] = result["needs"];
  return result;
}

// The settings of a commander that has tasks of its own; their roles get a program.
Result<json> read_settings(const Section& top, const Place& place) {
  json settings = top.value();
  settings.erase("commander");
  settings.erase("slurm");
  for (const char* key : {"learner", "collector"}) {
    const auto role = TRY(top.section(key));
    if (!role) return top.error(key, "missing: a role, with at least its command");
    settings[key] = TRY(read_role(*role, place));
  }
  if (const auto evaluation = TRY(top.section("evaluation"))) {
    if (const auto role = TRY(evaluation->section("task")))
      settings["evaluation"]["task"] = TRY(read_role(*role, place));
  }
  if (!settings.contains("policies")) {
    TRY(make_directories(place.directory / "policies"));
    settings["policies"] = (place.directory / "policies").string();
  }
  if (const auto policies = TRY(top.text("policies")))
    settings["policies"] = (place.base / *policies).lexically_normal().string();
  settings["coordinator"] = role_file(place.directory, kDataRole).string();
  return settings;
}

Result<YamlDocument> read_document(const fs::path& file) {
  YamlDocument document = TRY(parse_yaml(TRY(read_trusted_file(file)), file.string()));
  if (!document.value.is_object())
    return fail(fmt::format("{}: an object of keys expected (commander, learner, collector, ...)",
                            file.string()));
  return document;
}

// What is no role, or has no needs that can be read, read_workload() says.
Result<void> check_jobs_of(const std::optional<Section>& role, const SlurmSettings& settings) {
  const json* given = role ? role->find("needs") : nullptr;
  const auto needs = given == nullptr ? Resources() : parse_resources(*given).value_or(Resources());
  // As the job will be; of pilots with a size of their own, too.
  const bool pilots = settings.mode == SlurmSettings::Mode::pilots;
  const auto refusal = impossible(settings, pilots ? needs : pilot_shape(settings, needs));
  if (!role || !refusal) return {};
  return role->error(
      "needs", fmt::format("there can be no job for it: {}: {}", refusal->about, refusal->message));
}

}  // namespace

Result<std::optional<SlurmSettings>> read_workload_slurm(const fs::path& file) {
  const YamlDocument document = TRY(read_document(file));
  const Section top(document, file.string());
  if (top.find("slurm") == nullptr) return std::nullopt;
  const SlurmSettings settings = TRY(read_coordinator_slurm(top));
  TRY(check_jobs_of(TRY(top.section("learner")), settings));
  TRY(check_jobs_of(TRY(top.section("collector")), settings));
  if (const auto evaluation = TRY(top.section("evaluation")))
    TRY(check_jobs_of(TRY(evaluation->section("task")), settings));
  return settings;
}

Result<std::unique_ptr<Commander>> read_workload(const fs::path& file, const fs::path& directory,
                                                 std::uint64_t seed) {
  const YamlDocument document = TRY(read_document(file));
  const Section top(document, file.string());
  const auto commander = TRY(top.text("commander"));
  const std::vector<std::string> names = commander_names();
  if (!commander)
    return top.error("commander", fmt::format("missing: one of {}", fmt::join(names, ", ")));
  json settings = json::object();
  if (*commander == "trials") {
    TRY(top.check_keys({"commander", "slurm"}));  // all of its tasks come from clients
  } else if (std::ranges::find(names, *commander) != names.end()) {
    settings = TRY(read_settings(top, {fs::absolute(file).parent_path(), directory}));
  }
  auto made = make_commander(*commander, settings, seed);
  if (!made) return misplaced(top, *commander, made.error().message);
  return made;
}

}  // namespace attune
