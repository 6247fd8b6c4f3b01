#include "runner/workload.h"

#include <fmt/format.h>

#include "base/atomic_file.h"
#include "coordinator/server/server.h"
#include "runner/experiment_file.h"
#include "runner/files.h"
#include "runner/section.h"
#include "runner/trial_backends.h"
#include "runner/yaml.h"

namespace attune {
namespace {

namespace fs = std::filesystem;

struct Place {
  fs::path base;       // of the file
  fs::path directory;  // of the coordinator
};

// What is a trial's in an experiment file is a task's here: its command and where it runs.
Result<json> program_of(const Section& role, const Place& place) {
  const auto command = TRY(role.text("command"));
  if (!command || command->empty())
    return role.error("command", "missing: the shell command of the task");
  json document = {
      {"searchSpace", {{"none", {{"_type", "choice"}, {"_value", {0}}}}}},
      {"trialCommand", *command},
      {"trialCodeDirectory", (place.base / TRY(role.text("codeDirectory")).value_or(".")).string()},
      {"trialConcurrency", 1},
      {"tuner", {{"name", "Random"}}}};
  if (const json* environment = role.find("environment")) document["environment"] = *environment;
  auto experiment = read_stored_experiment(document, place.directory);
  if (!experiment) return role.error("command", experiment.error().message);
  const BackendSetup setup{*experiment, "coordinator", place.directory, {}, {}, {}, 0, {}};
  return json{
      {"experiment", TRY(write_worker_file(setup)).string()}, {"sequence", 0}, {"attempt", 0}};
}

// {command, ...} -> {program, ...}; what else a role has is looked at by the commander.
Result<json> read_role(const Section& role, const Place& place) {
  TRY(role.check_keys({"command", "codeDirectory", "environment", "parameters", "needs", "labels",
                       "limits", "priority"}));
  json result = {{"program", TRY(program_of(role, place))}};
  for (const char* key : {"parameters", "needs", "labels", "limits", "priority"}) {
    if (const json* value = role.find(key)) result[key] = *value;
  }
  if (result.contains("needs")) result["program"]["resources"] = result["needs"];
  return result;
}

}  // namespace

Result<Workload> read_workload(const fs::path& file, const fs::path& directory) {
  const YamlDocument document = TRY(parse_yaml(TRY(read_file(file.string())), file.string()));
  if (!document.value.is_object())
    return fail(fmt::format("{}: an object of keys expected (commander, learner, collector, ...)",
                            file.string()));
  const Section top(document, file.string());
  const Place place{fs::absolute(file).parent_path(), directory};
  Workload workload;
  const auto commander = TRY(top.text("commander"));
  if (!commander) return top.error("commander", "missing: naive, solo or one_vs_one");
  workload.commander = *commander;
  workload.settings = document.value;
  workload.settings.erase("commander");
  for (const char* key : {"learner", "collector"}) {
    const auto role = TRY(top.section(key));
    if (!role) return top.error(key, "missing: a role, with at least its command");
    workload.settings[key] = TRY(read_role(*role, place));
  }
  if (const auto evaluation = TRY(top.section("evaluation"))) {
    if (const auto role = TRY(evaluation->section("task")))
      workload.settings["evaluation"]["task"] = TRY(read_role(*role, place));
  }
  if (!workload.settings.contains("policies")) {
    TRY(make_directories(directory / "policies"));
    workload.settings["policies"] = (directory / "policies").string();
  }
  workload.settings["coordinator"] = (directory / kAddressFile).string();
  return workload;
}

}  // namespace attune
