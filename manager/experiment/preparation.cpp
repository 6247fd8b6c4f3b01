#include "manager/experiment/preparation.h"

#include <fmt/format.h>

#include "manager/decider/daemon_program.h"
#include "manager/store/schema.h"
#include "os/private_file.h"

namespace attune {
namespace {

std::string_view mode_text(bool maximize) { return maximize ? "maximize" : "minimize"; }

// The key of the experiment file that the user must change.
std::string key_of(const Experiment& experiment, const DaemonRefusal& refusal) {
  const bool own_file = !experiment.marks.contains("searchSpace");
  std::string key = refusal.part;
  if (key == "experiment") return "";
  if (key == "searchSpace" && own_file) key = "searchSpaceFile";
  if (key == "tuner" && experiment.tuner.is_null()) key = "advisor";
  for (const std::string& name : refusal.path) key += "." + name;
  return key;
}

}  // namespace

std::uint64_t settle_seed(std::optional<std::uint64_t> given, std::uint64_t drawn,
                          Experiment& experiment) {
  json& searcher = experiment.tuner.is_null() ? experiment.advisor : experiment.tuner;
  json& arguments = searcher["classArgs"];
  if (arguments.is_null()) arguments = json::object();
  if (!given) given = experiment.seed;
  if (!given && searcher.contains("name") && arguments.value("seed", json()).is_null())
    given = drawn;
  if (given) arguments["seed"] = *given;
  const json seed = arguments.value("seed", json());
  return seed.is_number_integer() ? seed.get<std::uint64_t>() : 0;  // else the daemon refuses it
}

Result<Direction> settle_direction(const Experiment& experiment,
                                   const std::filesystem::path& daemon,
                                   const std::vector<std::string>& environment) {
  if (!experiment.objectives.empty()) return Direction{experiment.objectives.front(), ""};
  const json& searcher = experiment.tuner.is_null() ? experiment.advisor : experiment.tuner;
  const bool has_assessor = !experiment.assessor.is_null();
  auto tuner = maximizes(searcher, nullptr, "tuners");
  auto assessor = has_assessor ? maximizes(experiment.assessor, nullptr, "assessors") : tuner;
  if (!tuner || !assessor) {
    const json list = TRY(list_algorithms(daemon, environment, experiment.plugins));
    tuner = maximizes(searcher, list, "tuners");
    assessor = has_assessor ? maximizes(experiment.assessor, list, "assessors") : tuner;
  }
  if (!tuner && searcher.contains("className")) {
    return fail(
        "is higher or lower better? Set optimize_mode in the tuner's classArgs to maximize or "
        "minimize");
  }
  // An unknown tuner has no direction here. check_with_daemon() refuses it, and lists the known
  // ones.
  Direction direction{{"default", tuner.value_or(false)}, ""};
  if (tuner && assessor && *tuner != *assessor) {
    direction.warning = fmt::format(
        "the tuner wants to {} and the assessor to {}: set optimize_mode in the classArgs of both",
        mode_text(*tuner), mode_text(*assessor));
  }
  return direction;
}

Result<void> check_with_daemon(Experiment& experiment, const std::filesystem::path& daemon,
                               const std::vector<std::string>& environment) {
  Findings findings;
  const DaemonCheck check =
      TRY(ask_daemon(daemon, environment, daemon_parameters(experiment), experiment.search_space));
  for (const DaemonRefusal& refusal : check.refusals)
    findings.add(finding_of(experiment, key_of(experiment, refusal), refusal.message));
  if (!experiment.document.contains(kDecisions) && may_be_in_step(experiment))
    experiment.program.in_step = check.judges_reports;
  const json& assessor = experiment.assessor;
  if (check.judges_reports && !assessor.is_null() &&
      assessor.value("stoppedTrials", "ignore") != "ignore") {
    experiment.warnings.push_back(
        finding_of(experiment, "assessor.stoppedTrials",
                   "it has no effect: the tuner learns from all reports of a trial")
            .text());
  }
  if (!experiment.learn_from.empty() && !check.learns_from_earlier) {
    experiment.warnings.push_back(
        finding_of(experiment, "learnFrom",
                   "it has no effect: the tuner cannot learn from earlier experiments; auto, GP, "
                   "TuRBO and ensemble can")
            .text());
    experiment.learn_from.clear();
  }
  return findings.result();
}

Result<void> check_point(const Space& space, const json& parameters) {
  const Point point = TRY(point_from_json(space, parameters));
  if (!space.feasible(point)) return fail("the constraints do not allow " + dump_json(parameters));
  return {};
}

Result<void> claim_directory(const std::filesystem::path& directory) {
  TRY(make_directories(directory / "log"));
  std::error_code error;
  const std::filesystem::directory_iterator trials(directory / "trials", error);
  if (!error && trials != std::filesystem::directory_iterator()) {
    if (!std::filesystem::exists(directory / kStoreFile, error))
      return fail(
          fmt::format("{} holds the trials of another run, whose attune.sqlite is gone; put that "
                      "back and go on with attune resume, or choose another --dir",
                      directory.string()));
    return fail(
        fmt::format("{} holds the trials of another run; choose another --dir, or go on "
                    "with it: attune resume --dir {}",
                    directory.string(), directory.string()));
  }
  return {};
}

}  // namespace attune
