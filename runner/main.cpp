// attune: runs tuning experiments. The one place where the world is built.
#include <fmt/format.h>
#include <signal.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <exception>
#include <random>
#include <utility>

#include <boost/asio/io_context.hpp>
#include <boost/asio/signal_set.hpp>
#include <boost/asio/steady_timer.hpp>

#include "backends/local_backend.h"
#include "runner/daemon_decider.h"
#include "runner/daemon_program.h"
#include "runner/experiment_file.h"
#include "runner/experiment_loop.h"
#include "runner/options.h"
#include "runner/preparation.h"
#include "runner/reporter.h"

namespace attune {
namespace {

namespace asio = boost::asio;
namespace fs = std::filesystem;

std::uint64_t draw_entropy() {
  std::random_device device;
  return (std::uint64_t{device()} << 32) | device();
}

std::string draw_experiment_id() {
  constexpr std::string_view kLetters = "abcdefghijkmnpqrstuvwxyz23456789";
  std::string id;
  for (std::uint64_t bits = draw_entropy(); id.size() < 8; bits >>= 5) id += kLetters[bits & 31];
  return id;
}

std::vector<std::string> inherited_environment() {
  std::vector<std::string> variables;
  for (char** variable = environ; *variable != nullptr; ++variable)
    variables.emplace_back(*variable);
  return variables;
}

std::string environment_text(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

// Handles events until the experiment is done.
void run_events(asio::io_context& io, ExperimentLoop& loop, Progress& progress,
                const Clock& clock) {
  asio::signal_set signals(io);
  for (const int number : {SIGINT, SIGTERM, SIGHUP}) {
    struct sigaction present = {};
    // What was ignored stays ignored: nohup, and background jobs of a script.
    if (::sigaction(number, nullptr, &present) == 0 && present.sa_handler != SIG_IGN)
      signals.add(number);
  }
  std::function<void()> await_signal = [&, count = 0]() mutable {
    signals.async_wait([&](const boost::system::error_code& error, int number) {
      if (error) return;
      progress.message(count == 0 ? "stopping the trials; once more to kill them"
                                  : "killing the trials");
      loop.interrupt(fmt::format("interrupted by SIG{}", sigabbrev_np(number)));
      // After the second one a third has its default effect.
      if (++count < 2) return await_signal();
      signals.clear();
    });
  };
  await_signal();

  asio::steady_timer second(io), alarm(io);
  std::function<void()> await_second = [&] {
    second.expires_after(std::chrono::seconds(1));
    second.async_wait([&](const boost::system::error_code& error) {
      if (error) return;
      progress.redraw();
      await_second();
    });
  };
  await_second();

  std::optional<double> armed;
  while (!loop.done()) {
    if (const auto deadline = loop.next_deadline(); deadline != armed) {
      armed = deadline;
      alarm.cancel();
      if (deadline) {
        alarm.expires_after(std::chrono::duration_cast<std::chrono::nanoseconds>(
            std::chrono::duration<double>(std::max(*deadline - clock.now(), 0.0))));
        alarm.async_wait([&](const boost::system::error_code& error) {
          if (error) return;
          armed.reset();
          loop.tick();
        });
      }
    }
    io.run_one();
  }
}

Result<int> run(const RunOptions& options) {
  Experiment experiment =
      TRY(read_experiment_file(options.file, fs::current_path() / "attune-experiments"));
  if (options.max_trials) experiment.max_trial_number = options.max_trials;
  if (options.concurrency) experiment.trial_concurrency = *options.concurrency;
  const std::vector<std::string> environment = inherited_environment();
  std::error_code ignored;
  const fs::path daemon =
      TRY(find_daemon(options.daemon, fs::read_symlink("/proc/self/exe", ignored).parent_path(),
                      environment_text("PATH")));

  RunFacts facts;
  facts.experiment_id = draw_experiment_id();
  const fs::path directory = options.directory.empty()
                                 ? experiment.working_directory / facts.experiment_id
                                 : fs::absolute(options.directory);
  facts.directory = directory.string();
  facts.seed = settle_seed(options.seed, draw_entropy() >> 32, experiment);
  const Direction direction = TRY(settle_direction(experiment, daemon, environment));
  facts.maximize = direction.maximize;
  ResultsFile results = TRY(claim_directory(directory));
  TRY(write_experiment(experiment, facts));
  Log log = TRY(Log::to_file((directory / "log" / "runner.log").string(),
                             TRY(parse_log_level(experiment.log_level)), false))
                .named("runner");

  const SystemClock clock;
  ProgressOptions shown;
  shown.terminal = ::isatty(STDERR_FILENO) == 1 && environment_text("TERM") != "dumb";
  shown.ansi = environment_text("NO_COLOR").empty();
  shown.quiet = options.quiet;
  shown.max_trials = experiment.max_trial_number;
  shown.max_seconds = experiment.max_experiment_seconds;
  Progress progress(shown, clock);
  if (!direction.warning.empty()) progress.message("warning: " + direction.warning);
  if (!options.quiet) {
    progress.message(fmt::format("experiment {} in {} (seed {}, {})", facts.experiment_id,
                                 facts.directory, facts.seed,
                                 facts.maximize ? "maximize" : "minimize"));
  }

  asio::io_context io;
  LoopLimits limits{experiment.trial_concurrency, experiment.max_trial_number,
                    experiment.max_experiment_seconds, experiment.max_trial_seconds};
  DaemonOptions daemon_options;
  daemon_options.program = daemon;
  daemon_options.parameters = daemon_parameters(experiment);
  daemon_options.search_space = experiment.search_space;
  daemon_options.include_intermediate_results = experiment.include_intermediate_results;
  daemon_options.log_level = experiment.log_level;
  daemon_options.directory = directory;
  daemon_options.environment = environment;
  LocalBackendOptions backend_options;
  backend_options.experiment_id = facts.experiment_id;
  backend_options.directory = directory / "trials";
  backend_options.command = experiment.trial_command;
  backend_options.code_directory = experiment.trial_code_directory;
  backend_options.environment = environment;
  backend_options.hide_gpus = experiment.trial_gpu_number == 0;

  ExperimentLoop* loop_pointer = nullptr;
  DaemonDecider decider(io, std::move(daemon_options), log.named("daemon"));
  const auto backend = TRY(LocalBackend::create(io, std::move(backend_options),
                                                [&loop_pointer] { loop_pointer->pump(); }));
  Reporter reporter(facts, std::move(results), progress);
  ExperimentLoop loop(limits, decider, *backend, clock, reporter, log);
  loop_pointer = &loop;
  loop.start();
  run_events(io, loop, progress, clock);

  const Outcome& outcome = reporter.outcome();
  if (options.json) {
    fmt::print("{}\n", dump_json(reporter.summary()));
  } else if (reporter.exit_code() != 2) {  // after 2 there is nothing to sum up
    fmt::print("{}", reporter.summary_text());
    std::fflush(stdout);
    if (!options.quiet) fmt::print(stderr, "results: {}\n", (directory / "results.jsonl").string());
  }
  if (outcome.kind != Outcome::Kind::completed) fmt::print(stderr, "attune: {}\n", outcome.reason);
  return reporter.exit_code();
}

}  // namespace
}  // namespace attune

int main(int argc, char** argv) {
  try {
    ::signal(SIGPIPE, SIG_IGN);
    const auto options = attune::parse_command_line(argc, argv);
    if (!options) {
      fmt::print(options.error().exit_code == 0 ? stdout : stderr, "{}", options.error().text);
      return options.error().exit_code;
    }
    const auto code = attune::run(*options);
    if (code) return *code;
    fmt::print(stderr, "attune: {}\n", code.error().message);
    return 2;
  } catch (const std::exception& error) {  // out of memory and the like
    fmt::print(stderr, "attune: {}\n", error.what());
    return 1;
  }
}
