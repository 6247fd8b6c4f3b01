#include "runner/preparation.h"

#include <fmt/format.h>

#include <fstream>

#include "runner/daemon_program.h"
#include "runner/files.h"

namespace attune {
namespace {

std::string_view mode_text(bool maximize) { return maximize ? "maximize" : "minimize"; }

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
  const json& searcher = experiment.tuner.is_null() ? experiment.advisor : experiment.tuner;
  const bool has_assessor = !experiment.assessor.is_null();
  auto tuner = maximizes(searcher, nullptr, "tuners");
  auto assessor = has_assessor ? maximizes(experiment.assessor, nullptr, "assessors") : tuner;
  if (!tuner || !assessor) {
    const json list = TRY(list_algorithms(daemon, environment));
    tuner = maximizes(searcher, list, "tuners");
    assessor = has_assessor ? maximizes(experiment.assessor, list, "assessors") : tuner;
  }
  if (!tuner && searcher.contains("className")) {
    return fail(
        "is higher or lower better? Set optimize_mode in the tuner's classArgs to maximize or "
        "minimize");
  }
  // A name that the list does not have is refused by the daemon itself, with the names that it has.
  Direction direction{tuner.value_or(false), ""};
  if (tuner && assessor && *tuner != *assessor) {
    direction.warning = fmt::format(
        "the tuner wants to {} and the assessor to {}: set optimize_mode in the classArgs of both",
        mode_text(*tuner), mode_text(*assessor));
  }
  return direction;
}

Result<ResultsFile> claim_directory(const std::filesystem::path& directory) {
  TRY(make_directories(directory / "log"));
  ResultsFile results = TRY(ResultsFile::open(directory / "results.jsonl"));
  std::error_code error;
  const std::filesystem::directory_iterator trials(directory / "trials", error);
  if (!error && trials != std::filesystem::directory_iterator()) {
    return fail(fmt::format("{} holds the trials of another run; choose another --dir",
                            directory.string()));
  }
  return results;
}

Result<void> write_experiment(const Experiment& experiment, const RunFacts& facts) {
  json record = {{"experiment_id", facts.experiment_id},
                 {"seed", facts.seed},
                 {"optimize_mode", mode_text(facts.maximize)},
                 {"searchSpace", experiment.search_space}};
  record.update(daemon_parameters(experiment));
  const std::string path = facts.directory + "/experiment.json";
  std::ofstream stream(path);
  stream << record.dump(2, ' ', false, json::error_handler_t::replace) << '\n';
  if (!stream.flush()) return fail("cannot write " + path);
  return {};
}

}  // namespace attune
