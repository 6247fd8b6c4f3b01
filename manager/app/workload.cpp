#include "manager/app/workload.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "cluster/batch/slurm_operator.h"
#include "cluster/pool/roles.h"
#include "cluster/pool/server/server.h"
#include "cluster/workload/commanders.h"
#include "manager/app/slurm_coordinator.h"
#include "manager/app/worker_file.h"
#include "manager/experiment/program_section.h"
#include "manager/experiment/section.h"
#include "manager/experiment/yaml.h"
#include "os/private_file.h"
#include "os/trust.h"

namespace attune {
namespace {

namespace fs = std::filesystem;

struct Place {
  fs::path base;       // of the file
  fs::path directory;  // of the coordinator
};

// Adds an error of make_commander(), which names a key, as a finding at that key in the file.
void add_error(const Section& top, const std::string& commander, const Error& error) {
  const std::string front = commander + ".";
  if (!error.place.starts_with(front)) return top.error("commander", error.message);
  top.error(error.place.substr(front.size()), error.what());
}

// The JSON that tells a worker what to run. null: the role has findings. Error: the worker file
// cannot be written.
Result<json> program_of(const Section& role, const Place& place) {
  TaskProgram program = read_role_program(role, place.base);
  if (!role.findings().empty()) return json();
  const fs::path written =
      TRY(write_worker_file({"coordinator", place.directory, std::move(program)}));
  // keep_checkpoint: no manager saves checkpoints here, so that an attempt starts from the files of
  // the one before.
  return json{
      {"experiment", written.string()}, {"sequence", 0}, {"attempt", 0}, {"keep_checkpoint", true}};
}

// Replaces the keys about the program of a role by `program`; the commander checks the other keys.
Result<json> read_role(const Section& role, const Place& place) {
  role.check_keys({"command", "codeDirectory", "environment", "parameters", "needs", "labels",
                   "limits", "priority"});
  json result;
  result["program"] = TRY(program_of(role, place));
  for (const char* key : {"parameters", "needs", "labels", "limits", "priority"}) {
    if (const json* value = role.find(key)) result[key] = *value;
  }
  if (result.contains("needs")) result["program"]["resources"] = result["needs"];
  return result;
}

// The settings for make_commander(), for a commander with tasks of its own.
Result<json> read_settings(const Section& top, const Place& place) {
  json settings = top.value();
  settings.erase("commander");
  settings.erase("slurm");
  for (const char* key : {"learner", "collector"}) {
    if (const auto role = top.section(key)) {
      settings[key] = TRY(read_role(*role, place));
    } else {
      top.error(key, "missing: a role, with at least its command");
    }
  }
  if (const auto evaluation = top.section("evaluation")) {
    if (const auto role = evaluation->section("task"))
      settings["evaluation"]["task"] = TRY(read_role(*role, place));
  }
  const auto policies = top.text("policies");
  TRY(top.findings().result());
  if (!settings.contains("policies")) {
    TRY(make_directories(place.directory / "policies"));
    settings["policies"] = (place.directory / "policies").string();
  }
  if (policies) settings["policies"] = (place.base / *policies).lexically_normal().string();
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

// Adds a finding if no job can satisfy the needs of the role. A role that is missing or has wrong
// needs is no finding here, but one of read_workload().
void check_jobs_of(const std::optional<Section>& role, const SlurmSettings& settings) {
  const json* given = role ? role->find("needs") : nullptr;
  const auto needs = given == nullptr ? Resources() : parse_resources(*given).value_or(Resources());
  // The size of the job: with pilots the needs themselves must fit into the pilot, whose size may
  // be set.
  const bool pilots = settings.mode == SlurmSettings::Mode::pilots;
  const auto flaw = impossible(settings, pilots ? needs : pilot_shape(settings, needs));
  if (!role || !flaw) return;
  role->error("needs", fmt::format("there can be no job for it: {}: {}", flaw->about, flaw->why));
}

}  // namespace

Result<std::optional<SlurmSettings>> read_workload_slurm(const fs::path& file) {
  const YamlDocument document = TRY(read_document(file));
  Findings findings;
  const Section top(document, file.string(), findings);
  if (top.find("slurm") == nullptr) return std::nullopt;
  const SlurmSettings settings = read_coordinator_slurm(top);
  TRY(findings.result());
  check_jobs_of(top.section("learner"), settings);
  check_jobs_of(top.section("collector"), settings);
  if (const auto evaluation = top.section("evaluation"))
    check_jobs_of(evaluation->section("task"), settings);
  TRY(findings.result());
  return settings;
}

Result<std::unique_ptr<Commander>> read_workload(const fs::path& file, const fs::path& directory,
                                                 std::uint64_t seed) {
  const YamlDocument document = TRY(read_document(file));
  Findings findings;
  const Section top(document, file.string(), findings);
  const auto commander = top.text("commander");
  const std::vector<std::string> names = commander_names();
  if (!commander) top.error("commander", fmt::format("missing: one of {}", fmt::join(names, ", ")));
  TRY(findings.result());
  json settings = json::object();
  if (*commander == "trials") {
    top.check_keys({"commander", "slurm"});  // all of its tasks come from clients
  } else if (std::ranges::find(names, *commander) != names.end()) {
    settings = TRY(read_settings(top, {fs::absolute(file).parent_path(), directory}));
  }
  TRY(findings.result());
  auto made = make_commander(*commander, settings, seed);
  if (!made) {
    add_error(top, *commander, made.error());
    TRY(findings.result());
  }
  return made;
}

}  // namespace attune
