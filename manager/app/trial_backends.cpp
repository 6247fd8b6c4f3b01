#include "manager/app/trial_backends.h"

#include <fmt/format.h>

#include <boost/asio/steady_timer.hpp>
#include <limits>
#include <utility>

#include "backends/local/local_backend.h"
#include "backends/local/machine.h"
#include "cluster/batch/slurm_commands.h"
#include "cluster/pool/backend/pool_backend.h"
#include "cluster/pool/roles.h"
#include "manager/app/own_coordinator.h"
#include "manager/app/worker_file.h"
#include "manager/experiment/key_file.h"

namespace attune {
namespace {

namespace fs = std::filesystem;

constexpr char kCoordinatorFolder[] = "coordinator";
constexpr char kKeyFile[] = "pool.key";  // with the key by which coordinators know the experiment
// At the end the manager waits at most so long for the coordinator.
constexpr std::chrono::seconds kFarewell{10};
// At the start it waits so long for its own coordinator, and for the answer of another one. Then
// the experiment begins, and its trials wait.
constexpr std::chrono::seconds kStart{20}, kFirstTry{5};

LocalBackendOptions local_options(const TaskProgram& program, const std::string& experiment_id,
                                  const fs::path& shim,
                                  const std::vector<std::string>& environment) {
  LocalBackendOptions options;
  options.experiment_id = experiment_id;
  options.command = program.command;
  options.code_directory = program.code_directory;
  options.environment = environment;
  options.shim = shim;
  options.arguments = program.arguments;
  options.parameter_names = ParameterNames(program.parameter_names);
  options.variables = program.environment;
  options.templates = program.templates;
  options.run_in_trial_folder = program.in_trial_folder;
  options.report = program.report;
  options.in_step = program.in_step;
  options.gpus = program.gpus;
  options.trials_per_gpu = program.trials_per_gpu;
  options.output_limit = program.output_limit;
  options.file_limit = raise_file_limit();
  return options;
}

Result<ChosenBackend> make_local(boost::asio::io_context& io, const BackendSetup& setup,
                                 std::function<void()> wake) {
  LocalBackendOptions options =
      local_options(setup.experiment.program, setup.experiment_id, setup.shim, setup.environment);
  options.gpu_indices = setup.experiment.gpu_indices;
  options.custom = setup.experiment.capacity.custom;
  auto backend = TRY(LocalBackend::create(io, std::move(options), std::move(wake)));
  return ChosenBackend{std::move(backend)};
}

bool on_slurm(const BackendSetup& setup) { return setup.experiment.backend == "slurm"; }

// The settings of the pool. With Slurm: of a coordinator that only this experiment uses, and that
// starts no workers on this machine.
PoolSettings pool_settings(const BackendSetup& setup) {
  if (!on_slurm(setup)) return setup.experiment.pool;
  PoolSettings settings;
  settings.workers = 0;
  settings.listen = setup.experiment.slurm.listen;
  settings.advertise = setup.experiment.slurm.advertise;
  return settings;
}

PoolBackendOptions pool_options(const BackendSetup& setup, const fs::path& worker_file) {
  const PoolSettings pool = pool_settings(setup);
  PoolBackendOptions options;
  const fs::path coordinator =
      pool.coordinator.empty() ? setup.directory / kCoordinatorFolder : fs::path(pool.coordinator);
  options.dial.file = role_file_of(coordinator, kClientRole).string();
  options.experiment_id = setup.experiment_id;
  options.experiment_file = worker_file;
  options.report = setup.experiment.program.report;
  // Without limits here: the capacity of a pool changes with every worker that comes or goes. The
  // runner starts the trials, and they wait in the pool.
  constexpr double kAny = std::numeric_limits<double>::infinity();
  options.capacity = {kAny, kAny, kAny, setup.experiment.capacity.custom};
  for (const auto& [name, amount] : setup.experiment.trial.resources.custom)
    options.capacity.custom.try_emplace(name, kAny);
  options.least.cpu = 1;
  options.labels = pool.labels;
  options.queue_limit = pool.queue_limit;
  options.on_state = setup.say;
  options.worker_per_task =
      on_slurm(setup) && setup.experiment.slurm.settings.mode == SlurmSettings::Mode::jobs;
  if (pool.coordinator.empty()) options.quiet_failures = 4;
  return options;
}

OwnCoordinator own_coordinator(const BackendSetup& setup) {
  OwnCoordinator own;
  own.program = setup.program;
  own.directory = setup.directory / kCoordinatorFolder;
  own.settings = pool_settings(setup);
  if (on_slurm(setup)) {
    own.slurm = setup.experiment.slurm.settings;
    own.slurm->prefix = setup.experiment_id + "-";
  }
  const int workers = std::max(1, own.settings.workers);
  own.worker_cpu =
      std::max(usable_cores(), static_cast<double>(setup.experiment.trial_concurrency) / workers);
  own.environment = setup.environment;
  return own;
}

// The connection to a coordinator.
struct Pool {
  std::unique_ptr<OwnCoordinatorProcess> own;  // null: the coordinator is not the experiment's own
  PoolBackend* backend = nullptr;
  DialState state = DialState::connecting;  // after the newest try to connect
  std::string reason;
  bool awaited = false;  // the start is over: failures of `own` are shown instead of returned
};

// A timer on the loop. Its handler may run after this object is destroyed, so it owns the flag.
class Patience {
 public:
  Patience(boost::asio::io_context& io, std::chrono::steady_clock::duration time)
      : timer_(io, time) {
    timer_.async_wait([over = over_](const boost::system::error_code&) { *over = true; });
  }
  bool over() const { return *over_; }

 private:
  std::shared_ptr<bool> over_ = std::make_shared<bool>(false);
  boost::asio::steady_timer timer_;
};

// Runs the loop until the coordinator is connected, or cannot be connected for now. Error: it never
// will be, because the own one has ended, or another one refuses the experiment.
Result<void> await_coordinator(boost::asio::io_context& io, const Pool& pool) {
  const Patience patience(io, pool.own ? kStart : kFirstTry);
  while (!patience.over() && !pool.backend->connected()) {
    if (pool.own && !pool.own->end().empty()) return fail(pool.own->end());
    if (!pool.own && pool.state != DialState::connecting) break;
    io.run_one();
  }
  if (!pool.own && pool.state == DialState::refused)
    return fail("the coordinator will not have this experiment: " + pool.reason);
  return {};
}

void say_goodbye(boost::asio::io_context& io, Pool& pool, bool hurry) {
  const Patience patience(io, kFarewell);
  const bool hopeless = hurry && !pool.backend->connected();
  const auto waits = [&] { return !hopeless && !patience.over(); };
  while (waits() && !pool.backend->connected()) io.run_one();  // the first connect may still run
  if (pool.own) pool.own->dismiss();
  pool.backend->finish(pool.own != nullptr);
  while (waits() && pool.backend->connected()) io.run_one();
}

Result<ChosenBackend> make_pool(boost::asio::io_context& io, const BackendSetup& setup,
                                std::function<void()> wake) {
  const auto pool = std::make_shared<Pool>();
  const WorkerFile worker_file{setup.experiment_id, setup.directory, setup.experiment.program};
  PoolBackendOptions options = pool_options(setup, TRY(write_worker_file(worker_file)));
  options.key = TRY(keep_key(setup.directory / kKeyFile));
  const Rng rng(setup.entropy);
  if (pool_settings(setup).coordinator.empty()) {
    const auto later = [pool = pool.get(), say = setup.say](const std::string& text) {
      if (pool->awaited) say(text);
    };
    pool->own = std::make_unique<OwnCoordinatorProcess>(io, own_coordinator(setup),
                                                        rng.fork("coordinator"), later);
    TRY(pool->own->start());
  }
  options.on_dialled = [pool](DialState state, const std::string& reason) {
    pool->state = state;
    pool->reason = reason;
    if (!pool->own) return;
    if (state == DialState::connected) {
      pool->own->reached();
    } else {
      pool->own->unreachable();  // a coordinator that was killed is started again, and continues
    }
  };
  auto backend = std::make_unique<PoolBackend>(io, std::move(options), rng, std::move(wake));
  pool->backend = backend.get();
  TRY(await_coordinator(io, *pool));
  pool->awaited = true;
  ChosenBackend chosen{std::move(backend)};
  chosen.unreachable = [pool] { return pool->backend->unreachable(); };
  chosen.at_end = [&io, pool](bool hurry) { say_goodbye(io, *pool, hurry); };
  return chosen;
}

}  // namespace

Result<void> check_backend(const Experiment& experiment,
                           const std::vector<std::string>& environment) {
  if (experiment.backend == "slurm") TRY(find_slurm(slurm_environment(environment)));
  if (experiment.backend == "pool") TRY(check_coordinator(experiment.pool));
  return {};
}

Result<ChosenBackend> make_backend(boost::asio::io_context& io, const BackendSetup& setup,
                                   std::function<void()> wake) {
  ChosenBackend chosen = setup.experiment.backend == "pool" || on_slurm(setup)
                             ? TRY(make_pool(io, setup, std::move(wake)))
                             : TRY(make_local(io, setup, std::move(wake)));
  chosen.backend->set_path(setup.directory);
  return chosen;
}

Result<std::unique_ptr<TrialBackend>> backend_of_worker_file(boost::asio::io_context& io,
                                                             const fs::path& file,
                                                             const WorkerMachine& machine,
                                                             std::function<void()> wake) {
  const WorkerFile read = TRY(read_worker_file(file));
  LocalBackendOptions options =
      local_options(read.program, read.id, machine.shim, machine.environment);
  options.shared_gpus = machine.gpus;
  auto backend = TRY(LocalBackend::create(io, std::move(options), std::move(wake)));
  backend->set_path(read.directory);
  return std::unique_ptr<TrialBackend>(std::move(backend));
}

}  // namespace attune
