#include <fmt/format.h>

#include <filesystem>
#include <utility>

#include <boost/asio/io_context.hpp>
#include <boost/asio/signal_set.hpp>

#include "backends/simulated/simulation_settings.h"
#include "base/terminal_text.h"
#include "manager/app/run_command.h"
#include "manager/app/simulation.h"
#include "manager/decider/daemon_decider.h"
#include "manager/decider/synced_decider.h"
#include "manager/experiment/experiment_file.h"
#include "manager/store/store_writer.h"
#include "os/standard_output.h"

namespace attune {
namespace {

Result<SimulationSettings> settings_of(const SimulateOptions& options, const Experiment& experiment,
                                       const RunFacts& facts) {
  json section = experiment.simulation.is_null() ? json::object() : experiment.simulation;
  if (options.epochs) section["epochs"] = *options.epochs;
  if (!options.curves.empty())
    section["curves"] = std::filesystem::absolute(options.curves).string();
  auto settings = read_simulation(
      section, {experiment.search_space, facts.objective().metric, facts.objective().maximize,
                facts.seed, std::filesystem::absolute(options.file).parent_path()});
  if (!settings) return fail(options.file + ": simulation: " + settings.error().message);
  // Without a capacity in the file: enough cores for as many trials as may run at once.
  settings->backend.capacity = experiment.capacity;
  if (settings->backend.capacity.cpu == 0)
    settings->backend.capacity.cpu = experiment.trial.resources.cpu * experiment.trial_concurrency;
  return settings;
}

}  // namespace

// One long function, because each object refers to those that were made before it.
// NOLINTNEXTLINE(readability-function-size)
Result<int> simulate_experiment(const SimulateOptions& options, const Surroundings& surroundings) {
  namespace asio = boost::asio;
  Experiment experiment = TRY(read_experiment_file(
      options.file, std::filesystem::current_path() / "attune-experiments", "simulated"));
  if (options.max_trials) experiment.max_trial_number = options.max_trials;
  if (options.concurrency) experiment.trial_concurrency = *options.concurrency;
  NewExperimentSetup setup = TRY(prepare_new(std::move(experiment), options.directory, options.seed,
                                             options.daemon, options.quiet, surroundings));
  SimulationSettings settings =
      TRY(settings_of(options, setup.session.experiment, setup.session.facts));
  auto curves = TRY(make_curves(settings));

  share_one_processor();  // before the daemon is spawned
  ManualClock clock(1);   // not 0, which means "no time" in records and in the store
  // An io_context of its own for signals while the store is waited for: `io` does not run then.
  asio::io_context interruption;
  asio::signal_set end_wait(interruption, SIGINT, SIGTERM);
  bool interrupted = false;
  end_wait.async_wait([&](const auto& error, int) { interrupted = !error; });
  auto claimed = claim(setup, clock, wait_for_store(setup.working_directory, [&] {
                         interruption.poll();
                         return !interrupted;
                       }));
  if (interrupted) return kExitInterrupted;
  if (!claimed) return std::unexpected(claimed.error());
  asio::io_context io;
  const Experiment& file = setup.session.experiment;
  const std::filesystem::path directory = setup.session.facts.directory;
  const Log log = TRY(open_runner_log(directory, file.log_level));
  log.info("simulated over {}", curves->description());
  DaemonDecider daemon(io, daemon_options(setup.session), log.named("daemon"));
  SyncedDecider decider(daemon);
  SimulatedBackend backend(settings.backend, std::move(curves), clock);
  backend.set_path(directory);
  const SystemClock real;
  setup.session.shown.max_trials = file.max_trial_number;
  setup.session.shown.metric = setup.session.facts.objective().metric;
  ProgressLine progress(setup.session.shown, real);
  show_beginning(setup.session, progress);
  StoreWriter writer(claimed->store, clock, &real);
  Reporter reporter(setup.session.facts, progress);
  TrialRunner runner(runner_options(file, setup.session.facts.objectives), decider, backend, clock,
                     writer, reporter, log);
  for (const json& point : file.initial_points) TRY(runner.add_trial(point, TrialSource::initial));
  asio::signal_set signals(io, SIGINT, SIGTERM);
  signals.async_wait([&](const boost::system::error_code& error, int) {
    if (!error) runner.interrupt("interrupted");
  });
  runner.start();
  interruption.poll();
  if (interrupted) runner.interrupt("interrupted");  // a signal that came before `signals` existed
  TRY(simulate(io,
               {.wake = [&] { runner.wake(); },
                .pump = [&] { runner.pump(); },
                .next_deadline = [&] { return runner.next_deadline(); },
                .done = [&] { return runner.done(); }},
               decider, backend, clock));
  if (const auto& stored = writer.end_result(); !stored) {
    if (!interrupted) return std::unexpected(stored.error());
    put_text(stderr, fmt::format("attune: {}\n", terminal_text(stored.error().message)));
    return kExitInterrupted;
  }
  json summary = reporter.summary();
  summary["session"]["virtual_seconds"] = clock.now();
  return print_result(
      {reporter.exit_code(), reporter.outcome(), std::move(summary),
       reporter.summary_text() + fmt::format("{} of virtual time\n", duration_text(clock.now()))},
      options.json);
}

}  // namespace attune
