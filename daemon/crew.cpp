#include "daemon/crew.h"

#include <filesystem>

#include "base/atomic_file.h"
#include "base/saved_numbers.h"
#include "daemon/checkpoint.h"
#include "daemon/version.h"

namespace attune {
namespace {

// Afresh, with nothing known.
Result<Crew> make_fresh(const Configuration& configuration, const Algorithms& algorithms,
                        const Log& log) {
  MadeTuner made =
      TRY(make_tuner(algorithms.tuners, configuration.tuner.name, configuration.tuner.arguments,
                     configuration.context, configuration.fallback_seed));
  std::unique_ptr<Assessor> assessor;
  if (configuration.assessor && made.wants_reports) {
    log.info("{} judges the reports: the assessor is not used", made.name);
  } else if (configuration.assessor) {
    assessor =
        TRY(make_assessor(algorithms.assessors, configuration.assessor->name,
                          configuration.assessor->arguments, configuration.context, made.seed));
  }
  json identity = {{"attuned", std::string(kVersion)},
                   {"tuner_choice",
                    {{"name", made.name},
                     {"optimize_mode", made.maximize ? "maximize" : "minimize"},
                     {"arguments", configuration.tuner.arguments}}},
                   {"assessor_choice", nullptr},
                   {"seed", made.seed}};
  if (assessor) {
    identity["assessor_choice"] = {{"name", configuration.assessor->name},
                                   {"arguments", configuration.assessor->arguments}};
  }
  const DispatcherOptions options{.capabilities = configuration.capabilities,
                                  .wants_reports = made.wants_reports,
                                  .has_assessor = assessor != nullptr,
                                  .include_intermediate = configuration.include_intermediate};
  const auto& objectives = configuration.context.objectives;
  const std::string metric = objectives.empty() ? "default" : objectives[0].metric;
  // Results that were read by another metric are of another experiment.
  if (metric != "default") identity["tuner_choice"]["metric"] = metric;
  Session session(std::move(made.tuner), Objective{metric, made.maximize}, log.named("tuner"));
  return Crew{options, Jobs(),
              TuneWorker(std::move(session), log.named("tuner"), configuration.constraints),
              AssessWorker(std::move(assessor), log.named("assessor"), metric),
              std::move(identity)};
}

// On an error the crew cannot be used any further.
Result<void> load(Crew& crew, const json& state, const Log& log) {
  if (TRY(value_at(state, "tuner_choice")) != crew.identity["tuner_choice"]) {
    return fail("it is of another tuner, or of one with other arguments");
  }
  TRY(crew.jobs.load(TRY(object_at(state, "jobs"))));
  crew.jobs.restart();
  TRY(crew.tune.load(TRY(object_at(state, "tuner"))));
  crew.tune.restart(crew.options.capabilities.pause, {});
  if (TRY(value_at(state, "assessor_choice")) != crew.identity["assessor_choice"]) {
    log.warning("the checkpoint is of another assessor: the present one begins afresh");
  } else {
    TRY(crew.assess.load(TRY(value_at(state, "assessor"))));
    crew.assess.restart();
  }
  crew.identity["seed"] = TRY(value_at(state, "seed"));
  if (TRY(value_at(state, kClean)) != true) crew.tune.skip_ahead();
  return {};
}

Result<void> resume(Crew& crew, const std::string& directory, const Log& log) {
  if (directory.empty()) return fail("there is no checkpoint directory (--checkpoint-dir)");
  const std::string path = checkpoint_path(directory);
  const std::string bytes = TRY(read_file(path));
  auto state = decode_checkpoint(bytes);
  auto loaded = state ? load(crew, *state, log) : Result<void>(std::unexpected(state.error()));
  if (!loaded) return fail(path + ": " + loaded.error().message);
  // From here on proposals may be given out of which this file does not know.
  (*state)[kClean] = false;
  if (auto marked = write_file_atomically(path, encode_checkpoint(*state)); !marked) {
    log.error("{}", marked.error().message);
  }
  log.info("resumed from {}, seed {}", path, dump_json(crew.identity["seed"]));
  return {};
}

// The next checkpoint takes its place, and perhaps only an argument was wrong.
void keep_refused(const std::string& path, const Log& log) {
  std::error_code error;
  std::filesystem::rename(path, path + ".refused", error);
  if (!error) log.warning("the checkpoint is kept as {}.refused", path);
}

}  // namespace

Result<Crew> make_crew(const Configuration& configuration, const Algorithms& algorithms,
                       const Log& log) {
  Crew crew = TRY(make_fresh(configuration, algorithms, log));
  const json& tuner = crew.identity["tuner_choice"];
  const json& assessor = crew.identity["assessor_choice"];
  log.info("attuned {} started: tuner {} ({}), assessor {}, seed {}", kVersion,
           tuner["name"].get<std::string>(), tuner["optimize_mode"].get<std::string>(),
           assessor.is_null() ? "none" : assessor["name"].get<std::string>(),
           dump_json(crew.identity["seed"]));
  if (!configuration.resume) return crew;
  const std::string& directory = configuration.checkpoint_directory;
  const auto resumed = resume(crew, directory, log);
  if (resumed) return crew;
  log.warning(
      "no checkpoint is used: {}; former results come back through the manager's ImportData",
      resumed.error().message);
  if (!directory.empty()) keep_refused(checkpoint_path(directory), log);
  return make_fresh(configuration, algorithms, log);
}

}  // namespace attune
