#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <sys/file.h>
#include <unistd.h>

#include <array>
#include <boost/asio/io_context.hpp>
#include <boost/asio/signal_set.hpp>
#include <filesystem>

#include "backends/local/gpu_rotation.h"
#include "backends/local/machine.h"
#include "base/names.h"
#include "base/terminal_text.h"
#include "cluster/pool/roles.h"
#include "cluster/pool/worker/worker_process.h"
#include "manager/app/job_environment.h"
#include "manager/app/pool_commands.h"
#include "manager/app/trial_backends.h"
#include "manager/decider/daemon_program.h"
#include "manager/experiment/dial_address.h"
#include "manager/experiment/key_file.h"
#include "os/private_file.h"
#include "os/standard_output.h"
#include "wire/secret.h"

namespace attune {
namespace {

namespace asio = boost::asio;
namespace fs = std::filesystem;

std::string host_name() {
  std::array<char, 256> name{};
  return ::gethostname(name.data(), name.size() - 1) == 0 ? name.data() : "unknown";
}

// The id of the Slurm job in which this process runs; empty: in none.
std::string job_number(const std::vector<std::string>& environment) {
  constexpr std::string_view kName = "SLURM_JOB_ID=";
  for (const std::string& variable : environment) {
    if (variable.starts_with(kName)) return variable.substr(kName.size());
  }
  return "";
}

// The GPUs that the worker may give to its trials.
Result<std::vector<GpuName>> gpus_of(const WorkerCommandOptions& options,
                                     const Surroundings& surroundings) {
  if (options.gpu == 0.0) return std::vector<GpuName>();
  auto gpus = devices_for(options.gpu, TRY(find_gpus(surroundings.environment)));
  if (!gpus) return fail("--gpu: " + gpus.error().message);
  return gpus;
}

Result<WorkerHello> hello_of(const WorkerCommandOptions& options, const Surroundings& surroundings,
                             std::size_t gpus) {
  WorkerHello hello;
  hello.host = host_name();
  hello.pid = ::getpid();
  hello.id = options.name.empty() ? fmt::format("{}-{}", hello.host, hello.pid) : options.name;
  if (const std::string job = job_number(surroundings.environment); options.job && !job.empty())
    hello.host += fmt::format(" (job {})", job);
  TRY(check_name("--name", hello.id));
  hello.incarnation = fmt::format("{:016x}", surroundings.entropy);
  hello.capacity.cpu = options.cpu.value_or(usable_cores());
  hello.capacity.memory = options.memory.value_or(usable_memory());
  hello.capacity.gpu = options.gpu.value_or(static_cast<double>(gpus));
  hello.capacity.custom = options.custom;
  hello.labels = options.labels;
  hello.kinds = options.kinds;
  for (const std::string& label : hello.labels) TRY(check_name("--label", label));
  for (const std::string& kind : hello.kinds) TRY(check_name("--kind", kind));
  return hello;
}

// Locks the file of --lock, so that only one process is this worker. An empty path: no lock.
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

// The key by which the coordinator knows the worker of this name again. It is kept in a file, so
// that the worker can be started again under its name. The file lies beside the coordinator's
// address or secret file, which only the user can read, and which everybody has who may start the
// worker. A worker without --name, or with --job (it never runs again), keeps no file.
class WorkerKey {
 public:
  WorkerKey(const WorkerCommandOptions& options, const DialerOptions& dial) {
    const fs::path known_by = dial.file.empty() ? dial.secret_file : dial.file;
    if (!options.name.empty() && !options.job)
      file_ = known_by.parent_path() / "keys" / options.name;
  }
  // Reads or makes the key at the first call, which must not come before the first hello: the
  // coordinator makes the folder. Later calls return the same key.
  std::string get() {
    if (key_.empty() && !file_.empty()) {
      auto kept = keep_key(file_);
      if (kept)
        key_ = *std::move(kept);
      else
        say(
            fmt::format("{}; so a worker that is started again under this name cannot go on with "
                        "the trials of this one",
                        kept.error().message));
    }
    if (key_.empty()) key_ = Secret::draw().hex();
    return key_;
  }

 private:
  fs::path file_;  // empty: the key is not kept
  std::string key_;
};

}  // namespace

Result<int> run_worker(const WorkerCommandOptions& options, const Surroundings& surroundings) {
  sigset_t all;
  ::sigfillset(&all);
  ::pthread_sigmask(SIG_UNBLOCK, &all, nullptr);  // it may have been started detached
  const UniqueFd lock = TRY(take_lock(options.lock));
  WorkerOptions worker_options;
  worker_options.dial = TRY(dial_options(options.join, options.secret_file, kWorkerRole));
  WorkerMachine machine;
  machine.gpus = std::make_shared<GpuRotation>(TRY(gpus_of(options, surroundings)), 1);
  worker_options.hello = TRY(hello_of(options, surroundings, machine.gpus->devices().size()));
  worker_options.most_tasks = options.tasks;
  if (options.job) worker_options.doubt = std::chrono::seconds(1);
  worker_options.leave_after = milliseconds(options.leave_after);
  worker_options.unreachable_after = milliseconds(options.unreachable_after);
  machine.environment = TRY(job_environment(options.environment, surroundings.environment));
  machine.shim = TRY(find_program("attune-shim", surroundings.program_folder, surroundings.path()));
  WorkerKey key(options, worker_options.dial);
  asio::io_context io;
  bool done = false;
  WorkerProcess worker(io, worker_options, Rng(surroundings.entropy), Log(),
                       {.make_backend =
                            [&](const std::string& experiment, std::function<void()> wake) {
                              return backend_of_worker_file(io, experiment, machine,
                                                            std::move(wake));
                            },
                        .on_state =
                            [&](const std::string& text) {
                              say(fmt::format("worker {}: {}", worker_options.hello.id, text));
                            },
                        .on_done = [&] { done = true; },
                        .key = [&] { return key.get(); }});
  asio::signal_set signals(io, SIGINT, SIGTERM, SIGUSR1);
  int count = 0;
  std::function<void()> await_signal = [&] {
    signals.async_wait([&](const boost::system::error_code& error, int number) {
      if (error) return;
      if (number == SIGUSR1 || (options.job && number == SIGTERM)) {
        worker.vacate(number == SIGUSR1 ? "its job's time limit is near" : "its job was ended");
      } else if (++count == 1) {
        say("takes nothing more; ends when its trials have. Once more to stop them");
        worker.drain();
      } else {
        say("stops its trials; once more to leave them as they are");
        worker.vacate("its worker was stopped");
        signals.clear();  // a third signal kills the worker, and its trials run on
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
