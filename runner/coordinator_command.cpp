#include <fmt/format.h>
#include <signal.h>

#include <boost/asio/io_context.hpp>
#include <boost/asio/signal_set.hpp>
#include <boost/asio/steady_timer.hpp>
#include <filesystem>

#include "base/standard_output.h"
#include "base/terminal_text.h"
#include "coordinator/commanders/commanders.h"
#include "coordinator/server/server.h"
#include "coordinator/wire/token.h"
#include "runner/experiment_session.h"
#include "runner/files.h"
#include "runner/local_workers.h"
#include "runner/pool_commands.h"
#include "runner/slurm_coordinator.h"
#include "runner/workload.h"

namespace attune {
namespace {

namespace asio = boost::asio;
namespace fs = std::filesystem;

// Who is started detached finds all signals blocked.
void unblock_signals() {
  sigset_t all;
  ::sigfillset(&all);
  ::pthread_sigmask(SIG_UNBLOCK, &all, nullptr);
}

// Ends the coordinator: by signal, or when nobody has needed it for long enough.
class EndOfCoordinator {
 public:
  EndOfCoordinator(asio::io_context& io, CoordinatorServer& server, LocalWorkers& workers,
                   double leave_after)
      : server_(server),
        workers_(workers),
        leave_after_(leave_after),
        signals_(io, SIGINT, SIGTERM),
        second_(io) {
    await_signal();
    if (leave_after_ > 0) await_second();
  }
  int signals() const { return count_; }

 private:
  void await_signal() {
    signals_.async_wait([this](const boost::system::error_code& error, int) {
      if (error) return;
      put_text(stderr, "stopping all tasks; once more to leave them as they are\n");
      workers_.stop_starting();
      server_.finish("the coordinator was told to end");
      if (++count_ == 1) signals_.clear();  // the second has its default effect
    });
  }
  // Nobody tells that nothing happens.
  void await_second() {
    second_.expires_after(std::chrono::seconds(1));
    second_.async_wait([this](const boost::system::error_code& error) {
      if (error) return;
      idle_ = server_.idle() ? idle_ + 1 : 0;
      if (idle_ >= leave_after_) {
        workers_.stop_starting();
        return server_.finish("nobody has needed it for a while");
      }
      await_second();
    });
  }

  CoordinatorServer& server_;
  LocalWorkers& workers_;
  const double leave_after_;
  asio::signal_set signals_;
  asio::steady_timer second_;
  double idle_ = 0;  // seconds
  int count_ = 0;
};

TokenBytes token_bytes(std::uint64_t entropy, std::uint64_t more) {
  TokenBytes bytes{};
  for (std::size_t i = 0; i < 8; ++i) {
    bytes[i] = static_cast<std::uint8_t>(entropy >> (8 * i));
    bytes[8 + i] = static_cast<std::uint8_t>(more >> (8 * i));
  }
  return bytes;
}

}  // namespace

Result<int> run_coordinator(const CoordinatorCommandOptions& options,
                            const Surroundings& surroundings) {
  unblock_signals();
  const fs::path directory = fs::absolute(options.directory).lexically_normal();
  TRY(make_directories(directory));
  const Log log = TRY(Log::to_file((directory / "coordinator.log").string(),
                                   TRY(parse_log_level(options.log_level)), true))
                      .named("coordinator");
  std::unique_ptr<Commander> commander;
  if (!options.file.empty()) {
    const Workload workload = TRY(read_workload(options.file, directory));
    auto made = make_commander(workload.commander, workload.settings,
                               options.seed.value_or(surroundings.entropy));
    if (!made) return fail(fmt::format("{}: {}", options.file, made.error().message));
    commander = *std::move(made);
  }
  const Commander* const outcome = commander.get();
  asio::io_context io;
  const SystemClock clock;
  ServerOptions server_options;
  server_options.directory = directory;
  server_options.listen = options.listen;
  server_options.advertise = options.advertise;
  server_options.token = make_token(token_bytes(surroundings.entropy, surroundings.more_entropy));
  server_options.seed = options.seed.value_or(surroundings.entropy);
  server_options.on_task_event = [](const std::string& text) {
    put_text(stderr, terminal_text(text) + "\n");
  };
  server_options.durability = options.durability;
  server_options.coordinator.lost_after = options.lost_after;
  server_options.silence =
      std::chrono::milliseconds(static_cast<std::int64_t>(options.silence * 1000));
  server_options.ping = server_options.silence / 5;
  bool finished = false;
  const fs::path program = fs::path(surroundings.program_folder) / "attune";
  const MakeOperator make_operator =
      TRY(choose_operator(io,
                          {options.slurm, options.scale_command, options.most_workers, program,
                           directory, surroundings.environment},
                          log));
  const auto server = TRY(CoordinatorServer::create(
      io, real_files(), clock, server_options, std::move(commander), log, [&] { finished = true; },
      make_operator));
  put_text(stderr,
           fmt::format("coordinator in {}, listening on {}{}\n"
                       "workers join with: attune worker --join {}\n",
                       directory.string(), server->address(), server->went_on() ? ", going on" : "",
                       (directory / kAddressFile).string()));
  LocalWorkers workers(
      io, {program, directory, options.workers, options.worker_cpu, surroundings.environment}, log);
  workers.begin();
  const EndOfCoordinator ending(io, *server, workers, options.leave_after);
  while (!finished) io.run_one();
  workers.dismiss();
  TRY(server->close());
  if (ending.signals() > 0) return kExitInterrupted;
  if (outcome == nullptr) return kExitOk;
  const std::string failure = outcome->failure();
  put_text(stderr, failure.empty() ? "done\n" : "failed: " + terminal_text(failure) + "\n");
  return failure.empty() ? kExitOk : kExitFailed;
}

}  // namespace attune
