#include <fmt/format.h>
#include <signal.h>

#include <boost/asio/io_context.hpp>
#include <boost/asio/signal_set.hpp>
#include <boost/asio/steady_timer.hpp>
#include <filesystem>

#include "backends/local/machine.h"
#include "base/terminal_text.h"
#include "cluster/pool/server/server.h"
#include "cluster/workload/buffer_board.h"
#include "manager/app/experiment_session.h"
#include "manager/app/local_workers.h"
#include "manager/app/pool_commands.h"
#include "manager/app/slurm_coordinator.h"
#include "manager/app/workload.h"
#include "manager/experiment/listen_address.h"
#include "manager/trials/resource_pool.h"
#include "os/private_file.h"
#include "os/standard_output.h"
#include "os/trust.h"
#include "wire/host_port.h"

namespace attune {
namespace {

namespace asio = boost::asio;
namespace fs = std::filesystem;

// A process that was started detached (ProcessSpec::detached) begins with all signals blocked.
void unblock_signals() {
  sigset_t all;
  ::sigfillset(&all);
  ::pthread_sigmask(SIG_UNBLOCK, &all, nullptr);
}

// Ends the coordinator: at SIGINT, after it has stopped all tasks; at SIGTERM, leaving tasks and
// workers to a later coordinator; or when it has been idle for `leave_after` seconds.
class EndOfCoordinator {
 public:
  EndOfCoordinator(asio::io_context& io, CoordinatorServer& server, LocalWorkers& workers,
                   double leave_after, std::function<void()> leave)
      : server_(server),
        workers_(workers),
        leave_(std::move(leave)),
        leave_after_(leave_after),
        signals_(io, SIGINT, SIGTERM),
        second_(io) {
    await_signal();
    if (leave_after_ > 0) await_second();
  }
  bool interrupted() const { return interrupted_; }

 private:
  void await_signal() {
    signals_.async_wait([this](const boost::system::error_code& error, int number) {
      if (error) return;
      workers_.stop_starting();
      if (number == SIGTERM) {
        put_text(stderr, "it leaves; tasks and workers stay for the one that is started next\n");
        return leave_();
      }
      put_text(stderr, "stopping all tasks; once more to leave them as they are\n");
      server_.finish("the coordinator was told to end");
      interrupted_ = true;
      signals_.clear();  // a second signal has its default effect
    });
  }
  // Looks once a second whether the server is idle: no event says that nothing happens.
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
  const std::function<void()> leave_;
  const double leave_after_;
  asio::signal_set signals_;
  asio::steady_timer second_;
  double idle_ = 0;  // seconds
  bool interrupted_ = false;
};

// If the record says that an attempt of a task ended badly: the file of its standard error, and the
// last lines of it. Else empty.
std::string last_words(const fs::path& directory, const Record& record) {
  const bool bad = record.edge == Edge::requeued || record.state == TaskState::failed ||
                   record.state == TaskState::lost;
  if (!bad) return "";
  const fs::path file = directory / "trials" / record.task / "stderr";
  std::string text = last_lines(file, 5);
  if (text.empty()) return "";
  std::string indented = "\n  " + file.string() + ":\n  ";
  for (const char c : text) indented += c == '\n' ? "\n  " : std::string(1, c);
  return indented;
}

// The settings of Slurm from the workload file or the file of --slurm; nothing: neither has any.
Result<std::optional<SlurmSettings>> slurm_of(const CoordinatorCommandOptions& options) {
  std::optional<SlurmSettings> settings;
  if (!options.file.empty()) settings = TRY(read_workload_slurm(options.file));
  if (settings && !(options.slurm.empty() && options.scale_command.empty()))
    return fail(fmt::format("{}: slurm: leave it away, or {}", options.file,
                            options.slurm.empty() ? "--scale-command" : "--slurm"));
  if (!options.slurm.empty()) settings = TRY(read_slurm_file(options.slurm));
  return settings;
}

// Refuses a workload if tasks that must run together (Commander::together) do not fit into the
// workers of this machine. Called if no other workers can come: one task would wait for ever.
Result<void> check_room(const Commander& commander, const CoordinatorCommandOptions& options) {
  Worker worker;
  worker.state = WorkerState::ready;
  worker.hello.capacity.cpu = options.worker_cpu > 0 ? options.worker_cpu : usable_cores();
  worker.hello.capacity.memory = usable_memory();
  const std::vector<Worker> workers(static_cast<std::size_t>(options.workers), worker);
  for (const std::vector<TaskSpec>& tasks : commander.together()) {
    // A task that does not fit even an empty worker waits for another worker, with a message.
    if (!std::ranges::all_of(tasks, [&](const auto& each) { return may_have(worker, each); }))
      continue;
    if (have_room(workers, tasks)) continue;
    const std::size_t learners = tasks.size() - 1;
    return fail(fmt::format(
        "{}: there is never room for {} ({}) and {} ({}) at the same time on {} "
        "worker{} of {:g} cpu: give --workers or --worker-cpu more, or let them need less",
        options.file, learners == 1 ? "the learner" : fmt::format("{} learners", learners),
        to_text(tasks.front().needs), tasks.back().id, to_text(tasks.back().needs), options.workers,
        options.workers == 1 ? "" : "s", worker.hello.capacity.cpu));
  }
  return {};
}

// Tells the user if another coordinator holds the journal. CoordinatorServer::create() then waits
// for a few seconds, since that one may be ending.
void say_if_another_runs(const fs::path& directory) {
  const std::string journal = (directory / kCoordinatorJournal).string();
  const auto file = real_files().open(journal, {.write = true});
  if (!file || real_files().lock(file->get(), journal).value_or(true)) return;
  put_text(stderr, fmt::format("another coordinator runs in {}; waits a few seconds for its end\n",
                               terminal_text(directory.string())));
}

}  // namespace

// One long function, because each object refers to those that were made before it.
// NOLINTNEXTLINE(readability-function-size)
Result<int> run_coordinator(const CoordinatorCommandOptions& options,
                            const Surroundings& surroundings) {
  unblock_signals();
  const HostPort listen = TRY(parse_host_port(options.listen));
  if (options.advertise.empty() && is_any_host(listen.host))
    return fail(
        fmt::format("--listen {}: nobody can dial that; say with --advertise HOST:PORT how "
                    "others know this host",
                    options.listen));
  const fs::path directory = fs::absolute(options.directory).lexically_normal();
  TRY(make_directories(directory));
  TRY(check_trusted(directory));
  const Log log = TRY(Log::to_file((directory / "coordinator.log").string(),
                                   TRY(parse_log_level(options.log_level)), true))
                      .named("coordinator");
  const auto slurm = TRY(slurm_of(options));
  const bool only_local = options.workers > 0 && !slurm && options.scale_command.empty() &&
                          options.advertise.empty() && is_this_host(listen.host);
  const Commander* outcome = nullptr;
  MakeCommander commander;
  if (!options.file.empty()) {
    commander = [&](std::uint64_t seed) -> Result<std::unique_ptr<Commander>> {
      auto made = TRY(read_workload(options.file, directory, seed));
      if (made && only_local) TRY(check_room(*made, options));
      outcome = made.get();
      return made;
    };
  }
  asio::io_context io;
  const SystemClock clock;
  ServerOptions server_options;
  server_options.directory = directory;
  server_options.listen = options.listen;
  server_options.advertise = options.advertise;
  server_options.seed = options.seed;
  server_options.entropy = surroundings.entropy >> 11;  // small enough to be given to --seed
  server_options.on_task_event = [&](const std::string& text, const Record& record) {
    put_text(stderr, terminal_text(text + last_words(directory, record)) + "\n");
  };
  server_options.durability = options.durability;
  server_options.coordinator.lost_after = options.lost_after;
  server_options.silence =
      std::chrono::milliseconds(static_cast<std::int64_t>(options.silence * 1000));
  server_options.ping = server_options.silence / 5;
  bool finished = false;
  const fs::path program = fs::path(surroundings.program_folder) / "attune";
  ServerParts parts{make_buffer_board, commander, {}};
  parts.make_operator = TRY(choose_operator(io,
                                            {slurm, options.scale_command, options.most_workers,
                                             program, directory, surroundings.environment},
                                            log));
  say_if_another_runs(directory);
  const auto server = TRY(CoordinatorServer::create(io, real_files(), clock, server_options, parts,
                                                    log, [&] { finished = true; }));
  put_text(stderr, fmt::format("coordinator in {}, listening on {}{}\n"
                               "workers join with: attune worker --join {}\n",
                               directory.string(), server->address(),
                               server->went_on() ? ", going on" : "", directory.string()));
  LocalWorkers workers(
      io, {program, directory, options.workers, options.worker_cpu, surroundings.environment}, log);
  workers.begin();
  bool left = false;
  const EndOfCoordinator ending(io, *server, workers, options.leave_after, [&] { left = true; });
  while (!finished && !left) io.run_one();
  if (!left) workers.dismiss();
  TRY(server->close());
  if (left && outcome == nullptr) return kExitOk;  // a service that was asked to stop
  if (left || ending.interrupted()) return kExitInterrupted;
  if (outcome == nullptr) return kExitOk;
  const std::string failure = outcome->failure();
  put_text(stderr, failure.empty() ? "done\n" : "failed: " + terminal_text(failure) + "\n");
  return failure.empty() ? kExitOk : kExitFailed;
}

}  // namespace attune
