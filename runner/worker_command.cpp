#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <sys/file.h>
#include <unistd.h>

#include <array>
#include <boost/asio/io_context.hpp>
#include <boost/asio/signal_set.hpp>
#include <filesystem>

#include "backends/machine.h"
#include "base/clock.h"
#include "base/standard_output.h"
#include "base/terminal_text.h"
#include "coordinator/worker/worker_process.h"
#include "runner/daemon_program.h"
#include "runner/dial_address.h"
#include "runner/files.h"
#include "runner/job_environment.h"
#include "runner/pool_commands.h"
#include "runner/trial_backends.h"

namespace attune {
namespace {

namespace asio = boost::asio;
namespace fs = std::filesystem;

std::string host_name() {
  std::array<char, 256> name{};
  return ::gethostname(name.data(), name.size() - 1) == 0 ? name.data() : "unknown";
}

Result<WorkerHello> hello_of(const WorkerCommandOptions& options,
                             const Surroundings& surroundings) {
  WorkerHello hello;
  hello.host = host_name();
  hello.pid = ::getpid();
  hello.id = options.name.empty() ? fmt::format("{}-{}", hello.host, hello.pid) : options.name;
  TRY(check_file_name("--name", hello.id));
  hello.incarnation = fmt::format("{:016x}", surroundings.entropy);
  hello.capacity.cpu = options.cpu.value_or(usable_cores());
  hello.capacity.memory = options.memory.value_or(usable_memory());
  hello.capacity.gpu = options.gpu
                           ? *options.gpu
                           : static_cast<double>(TRY(find_gpus(surroundings.environment)).size());
  hello.capacity.custom = options.custom;
  hello.labels = options.labels;
  hello.kinds = options.kinds;
  return hello;
}

// Only one process may be that worker.
Result<UniqueFd> take_lock(const std::string& path) {
  if (path.empty()) return UniqueFd();
  UniqueFd file = TRY(open_private(path, O_RDWR | O_CREAT));
  if (::flock(file.get(), LOCK_EX | LOCK_NB) != 0)
    return fail(fmt::format("{} is held: this worker runs already", path));
  return file;
}

std::chrono::milliseconds milliseconds(double seconds) {
  return std::chrono::milliseconds(static_cast<std::int64_t>(seconds * 1000));
}

void say(const std::string& text) { put_text(stderr, terminal_text(text) + "\n"); }

}  // namespace

Result<int> run_worker(const WorkerCommandOptions& options, const Surroundings& surroundings) {
  sigset_t all;
  ::sigfillset(&all);
  ::pthread_sigmask(SIG_UNBLOCK, &all, nullptr);  // it may have been started detached
  const UniqueFd lock = TRY(take_lock(options.lock));
  WorkerOptions worker_options;
  worker_options.dial = TRY(dial_options(options.join, options.token_file));
  worker_options.hello = TRY(hello_of(options, surroundings));
  // In doubles, and so in the JSON of others, microseconds are exact for 285 years.
  worker_options.first_seq = static_cast<std::uint64_t>(SystemClock().wall() * 1e6);
  worker_options.most_tasks = options.tasks;
  if (options.job) worker_options.doubt = std::chrono::seconds(1);
  worker_options.leave_after = milliseconds(options.leave_after);
  worker_options.unreachable_after = milliseconds(options.unreachable_after);
  const std::vector<std::string> environment =
      TRY(job_environment(options.environment, surroundings.environment));
  const fs::path shim =
      TRY(find_program("attune-shim", surroundings.program_folder, surroundings.path()));
  asio::io_context io;
  bool done = false;
  WorkerProcess worker(io, worker_options, Rng(surroundings.entropy), Log(),
                       {.make_backend =
                            [&](const std::string& experiment, std::function<void()> wake) {
                              return backend_of_worker_file(io, experiment, shim, environment,
                                                            std::move(wake));
                            },
                        .on_state =
                            [&](const std::string& text) {
                              say(fmt::format("worker {}: {}", worker_options.hello.id, text));
                            },
                        .on_done = [&] { done = true; }});
  asio::signal_set signals(io, SIGINT, SIGTERM, SIGUSR1);
  int count = 0;
  std::function<void()> await_signal = [&] {
    signals.async_wait([&](const boost::system::error_code& error, int number) {
      if (error) return;
      if (number == SIGUSR1 || (options.job && number == SIGTERM)) {
        worker.vacate(number == SIGUSR1 ? "its job's time limit is near" : "its job was ended");
        if (!worker.connected() && worker.idle()) done = true;
      } else if (++count == 1) {
        say("takes nothing more; ends when its trials have. Once more to stop them");
        worker.drain();
        if (!worker.connected() && worker.idle()) done = true;
      } else {
        worker.kill_all();
        signals.clear();  // the third has its default effect: the trials run on
        return;
      }
      await_signal();
    });
  };
  await_signal();
  worker.begin();
  while (!done) io.run_one();
  return kExitOk;
}

}  // namespace attune
