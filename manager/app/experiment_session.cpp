#include "manager/app/experiment_session.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <string.h>

#include <algorithm>
#include <chrono>
#include <functional>
#include <optional>
#include <utility>

#include <boost/asio/io_context.hpp>
#include <boost/asio/signal_set.hpp>
#include <boost/asio/steady_timer.hpp>

#include "manager/app/live_export.h"
#include "manager/app/own_dashboard.h"
#include "manager/app/trial_backends.h"
#include "manager/cli/options.h"
#include "manager/control/control_handler.h"
#include "manager/control/control_server.h"
#include "manager/decider/daemon_decider.h"
#include "manager/store/store_outbox.h"
#include "manager/store/store_reader.h"
#include "manager/store/store_writer.h"
#include "os/private_file.h"

namespace attune {
namespace {

namespace asio = boost::asio;

// At most so many events of the loop before each pump(), so that one commit serves them all.
constexpr int kEventsAtOnce = 64;
// Seconds that an interrupted experiment waits for whoever could stop its trials.
constexpr double kGiveUpAfter = 10;

class Loop {
 public:
  Loop(asio::io_context& io, TrialRunner& runner, LiveExport& live, const ChosenBackend& backend,
       ProgressLine& progress, const Clock& clock)
      : io_(io),
        runner_(runner),
        live_(live),
        backend_(backend),
        progress_(progress),
        clock_(clock),
        signals_(io),
        second_(io),
        alarm_(io) {}

  void run() {
    await_signals();
    await_second();
    runner_.pump();
    while (!runner_.done()) {
      arm();
      io_.run_one();
      for (int i = 1; i < kEventsAtOnce && io_.poll_one() > 0; ++i) continue;
      runner_.pump();
      live_.write_ended();
      leave_unreachable();
    }
    live_.write_ended();
  }

 private:
  void await_signals() {
    for (const int number : {SIGINT, SIGTERM, SIGHUP}) {
      struct sigaction present = {};
      // A signal that was ignored at the start stays ignored, as nohup and scripts expect.
      if (::sigaction(number, nullptr, &present) == 0 && present.sa_handler != SIG_IGN)
        signals_.add(number);
    }
    await_signal();
  }

  void await_signal() {
    signals_.async_wait([this](const boost::system::error_code& error, int number) {
      if (error) return;
      progress_.message(interrupt_text());
      runner_.interrupt(fmt::format("interrupted by SIG{}", sigabbrev_np(number)));
      // After the second signal, a third one has its default effect.
      if (++interrupts_ < 2) return await_signal();
      signals_.clear();
    });
  }

  // Why the trials cannot be told to end; empty: they can.
  std::string unreachable() const { return backend_.unreachable ? backend_.unreachable() : ""; }

  std::string interrupt_text() const {
    const bool first = interrupts_ == 0;
    if (unreachable().empty())
      return first ? "stopping the trials; once more to kill them" : "killing the trials";
    if (!first) return "leaving the trials";
    return fmt::format(
        "{}; trials that may run there are left to attune resume after {:g} s, once more: now",
        unreachable(), kGiveUpAfter);
  }

  // An interrupted experiment whose coordinator cannot be reached leaves its running trials to a
  // later manager: after kGiveUpAfter, or at once at the second signal.
  void leave_unreachable() {
    const bool waits = runner_.interrupted() && runner_.tally().running > 0;
    const std::string why = waits ? unreachable() : "";
    if (why.empty()) return unreachable_since_.reset();
    if (!unreachable_since_) unreachable_since_ = clock_.now();
    if (!runner_.killed() && clock_.now() < *unreachable_since_ + kGiveUpAfter) return;
    runner_.leave(why);
    runner_.pump();
  }

  void await_second() {
    second_.expires_after(std::chrono::seconds(1));
    second_.async_wait([this](const boost::system::error_code& error) {
      if (error) return;
      progress_.redraw();
      await_second();
    });
  }

  // Sets the alarm to the runner's next deadline. It only has to end run_one(): pump() itself looks
  // at the time.
  void arm() {
    const auto deadline = runner_.next_deadline();
    if (deadline == armed_) return;
    armed_ = deadline;
    alarm_.cancel();
    if (!deadline) return;
    // At most a day, after which it is set again: a limit of centuries would overflow the
    // nanoseconds of the timer.
    const double wait = std::clamp(*deadline - clock_.now(), 0.0, 86400.0);
    alarm_.expires_after(
        std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::duration<double>(wait)));
    alarm_.async_wait([this](const boost::system::error_code& error) {
      if (!error) armed_.reset();
    });
  }

  asio::io_context& io_;
  TrialRunner& runner_;
  LiveExport& live_;
  const ChosenBackend& backend_;
  ProgressLine& progress_;
  const Clock& clock_;
  asio::signal_set signals_;
  asio::steady_timer second_, alarm_;
  std::optional<double> armed_, unreachable_since_;
  int interrupts_ = 0;
};

}  // namespace

void show_beginning(const SessionSetup& setup, ProgressLine& progress) {
  for (const std::string& warning : setup.warnings) progress.message("warning: " + warning);
  for (const std::string& message : setup.messages) progress.message(message);
}

Result<Log> open_runner_log(const std::filesystem::path& directory, const std::string& level) {
  const std::filesystem::path file = directory / "log" / "runner.log";
  TRY(make_directories(file.parent_path()));
  // Log refuses what is no regular file, too, but only open_private() tells the user to remove it.
  TRY(open_private(file, O_WRONLY | O_CREAT | O_APPEND));
  return TRY(Log::to_file(file.string(), TRY(parse_log_level(level)), false)).named("runner");
}

DaemonOptions daemon_options(const SessionSetup& setup) {
  const Experiment& experiment = setup.experiment;
  DaemonOptions options;
  options.program = setup.daemon;
  options.parameters = daemon_parameters(experiment);
  options.search_space = experiment.search_space;
  options.earlier = setup.earlier;
  options.include_intermediate_results = experiment.include_intermediate_results;
  options.log_level = experiment.log_level;
  options.directory = setup.facts.directory;
  options.environment = setup.environment;
  options.resume = setup.resume;
  return options;
}

namespace {

std::string result_place(const ReportRules& rules) {
  switch (rules.how) {
    case ReportRules::How::metrics_file:
      return "by attune.final(number) or nni.report_final_result(number) in Python, as a FINAL "
             "record in $NNI_SYS_DIR/.nni/metrics, or, from what the program prints, by `report: "
             "{regex: 'loss (?<default>\\S+)'}` in the experiment file";
    case ReportRules::How::lines:
      return "in a line of its output that the regular expression of `report` matches";
    case ReportRules::How::tune_metric:
      return "in a line `[tune-metric]: {...}` of its standard output";
    case ReportRules::How::result_file:
      return "in the file " + rules.file + " of its folder";
    case ReportRules::How::exit_code:
      break;
  }
  return "by an exit code from 0 to 125";
}

}  // namespace

RunnerOptions runner_options(const Experiment& experiment,
                             const std::vector<Objective>& objectives) {
  RunnerOptions options;
  options.concurrency = experiment.trial_concurrency;
  options.max_trials = experiment.max_trial_number;
  options.max_seconds = experiment.max_experiment_seconds;
  options.max_trial_seconds = experiment.max_trial_seconds;
  options.objectives = objectives;
  options.result_place = result_place(experiment.program.report);
  options.trial = experiment.trial;
  options.in_step = experiment.program.in_step;
  if (experiment.fidelity) options.fidelity = experiment.fidelity->metric;
  options.capacity = experiment.capacity;
  options.queue_trials = experiment.queue_trials;
  options.checkpoint = experiment.checkpoint;
  options.stop = experiment.stop;
  return options;
}

namespace {

Result<std::vector<ImportData::Record>> stored_results(const RunFacts& facts) {
  StoreReader reader = TRY(StoreReader::open(facts.directory));
  const StoredExperiment stored = TRY(reader.find(facts.experiment_id));
  return ended_results(reader, stored);
}

// Null: none was wanted, or it did not start, without which the experiment runs as well.
std::unique_ptr<OwnDashboard> start_dashboard(asio::io_context& io, const SessionSetup& setup,
                                              ProgressLine& progress) {
  if (setup.dashboard.empty()) return nullptr;
  auto started = OwnDashboard::start(
      io,
      {setup.program, setup.facts.directory, setup.dashboard == kUsualPlace ? "" : setup.dashboard,
       setup.environment},
      [&progress](const std::string& text) { progress.message(text); });
  if (started) return *std::move(started);
  progress.message("warning: no dashboard: " + started.error().message);
  return nullptr;
}

}  // namespace

// One long function, because each object refers to those that were made before it, and all live
// until the session ends.
// NOLINTNEXTLINE(readability-function-size)
Result<SessionResult> run_session(SessionSetup setup, Store& store) {
  const std::filesystem::path directory = setup.facts.directory;
  const SystemClock clock;
  const Log log = TRY(open_runner_log(directory, setup.experiment.log_level));
  setup.shown.max_trials = setup.experiment.max_trial_number;
  setup.shown.max_seconds = setup.experiment.max_experiment_seconds;
  setup.shown.metric = setup.facts.objective().metric;
  ProgressLine progress(setup.shown, clock);
  show_beginning(setup, progress);

  asio::io_context io;
  TrialRunner* runner_pointer = nullptr;
  store.be_patient();
  StoreOutbox outbox(store);
  DaemonOptions daemon = daemon_options(setup);
  daemon.outbox = &outbox;
  daemon.left = std::move(setup.left);
  DaemonDecider decider(io, std::move(daemon), log.named("daemon"));
  const BackendSetup surroundings{
      setup.experiment, setup.facts.experiment_id,
      directory,        setup.program,
      setup.shim,       setup.environment,
      setup.entropy,    [&progress](const std::string& text) { progress.message(text); }};
  auto made = make_backend(io, surroundings, [&runner_pointer] { runner_pointer->wake(); });
  if (!made) {
    const auto kept =
        store.end({ExperimentEnd::Kind::failed, made.error().message}, clock.wall(), 0);
    if (kept) return std::unexpected(made.error());
    return fail(fmt::format("{}; that could not be written: {}", made.error().message,
                            kept.error().message));
  }
  const ChosenBackend chosen = *std::move(made);
  StoreWriter writer(store, clock);
  Reporter reporter(setup.facts, progress);
  for (const TrialRecord& trial : setup.succeeded) reporter.offer(trial);
  if (setup.resume) {
    Tally tally = setup.restored.tally;
    tally.pending = std::ssize(setup.restored.live);
    reporter.go_on_from(tally, setup.restored.seconds);
  }
  RunnerOptions options = runner_options(setup.experiment, setup.facts.objectives);
  options.results = [&setup] { return stored_results(setup.facts); };
  LiveExport live(reporter, directory, progress);
  live.begin(setup.experiment.exports, setup.facts.experiment_id);
  TrialRunner runner(std::move(options), decider, *chosen.backend, clock, writer, live, log);
  runner_pointer = &runner;
  ControlHandler control(runner, setup.experiment, store, clock);
  const auto server = TRY(ControlServer::listen(
      io, directory, [&control](const json& request) { return control.handle(request); }));
  if (setup.resume || !setup.restored.ended.empty()) runner.restore(std::move(setup.restored));
  // An earlier manager may have been killed before it added all initial points.
  const auto& points = setup.experiment.initial_points;
  for (std::size_t i = setup.initial_points_done; i < points.size(); ++i)
    TRY(runner.add_trial(points[i], TrialSource::initial));
  for (const Again& again : setup.again) {
    const std::string job_id =
        TRY(runner.add_trial(again.parameters, TrialSource::customized, {}, again.checkpoint));
    writer.add_decision({again.job_id, "retry", "user", "tried again as " + job_id});
  }
  const auto dashboard = start_dashboard(io, setup, progress);
  runner.start();
  Loop(io, runner, live, chosen, progress, clock).run();
  if (chosen.at_end && !runner.left_trials()) chosen.at_end(runner.interrupted());
  SessionResult result{reporter.exit_code(), reporter.outcome(), reporter.summary(),
                       reporter.summary_text()};
  if (const auto& written = writer.stored(); !written) {
    result.stored = false;
    // Not an error of this function, which would mean that the user's input is wrong.
    if (result.exit_code != kExitInterrupted) result.exit_code = kExitFailed;
    if (result.outcome.kind == ExperimentEnd::Kind::completed)
      result.outcome = {ExperimentEnd::Kind::failed, result.outcome.reason};
    result.outcome.reason += "; that could not be written: " + written.error().message;
  } else if (const auto& ended = writer.end_result(); !ended) {
    result.stored = false;
    progress.message(
        fmt::format("warning: all results are stored, but not that the experiment has "
                    "ended: {}; attune resume writes it when that is possible",
                    ended.error().message));
  }
  return result;
}

}  // namespace attune
