// The options of attune coordinator, attune worker and attune pool.
#include "manager/cli/options_parser.h"

namespace attune {
namespace {

constexpr const char* kGroup = "Many machines";

// How others connect to the coordinator, and when it takes them for lost.
void connection_options(CLI::App* coordinator, CoordinatorCommandOptions& c) {
  coordinator
      ->add_option("--listen", c.listen,
                   "Where workers and managers dial (default: a free port of 127.0.0.1)")
      ->type_name("HOST:PORT");
  coordinator
      ->add_option("--advertise", c.advertise,
                   "Address that others dial, if it is another one; needed with 0.0.0.0")
      ->type_name("HOST:PORT");
  coordinator
      ->add_option(
          "--lost-after", c.lost_after,
          "Give the tasks of a worker to others after it was silent for so long (default: 15s)")
      ->transform(duration())
      ->check(amount())
      ->type_name("DURATION");
  coordinator
      ->add_option("--silence", c.silence,
                   "Close a connection after so long without a message; the other side does the "
                   "same (default: 10s)")
      ->transform(duration())
      ->check(CLI::Range(0.1, 86'400.0).description(""))
      ->type_name("DURATION");
}

// The workers that the coordinator keeps running itself.
void own_worker_options(CLI::App* coordinator, CoordinatorCommandOptions& c) {
  coordinator->add_option("--workers", c.workers, "Workers to keep running on this machine")
      ->check(CLI::Range(0, 1000))
      ->type_name("N");
  coordinator->add_option("--worker-cpu", c.worker_cpu, "Processors of each of them (default: all)")
      ->check(amount())
      ->type_name("N");
  coordinator
      ->add_option("--scale-command", c.scale_command,
                   "Shell command that runs when the wanted number of workers changes; "
                   "ATTUNE_WORKERS_WANTED has the number")
      ->type_name("COMMAND");
  coordinator
      ->add_option("--most-workers", c.most_workers,
                   "Largest number of workers to ask for (default: 16)")
      ->check(CLI::Range(1, 100'000))
      ->type_name("N");
  coordinator
      ->add_option("--slurm", c.slurm,
                   "Get workers from Slurm: a file with the key slurm of an experiment file")
      ->excludes("--scale-command")
      ->type_name("FILE");
}

void add_coordinator(CLI::App& app, ParsedOptions& found) {
  CLI::App* coordinator = command(
      app, found, kGroup, "coordinator", "Give tasks to workers on many machines",
      &ParsedOptions::coordinator,
      "  attune coordinator --dir /shared/pool --listen 0.0.0.0:7000 --advertise head:7000\n"
      "  attune coordinator --workers 2\n"
      "  attune coordinator workload.yaml --workers 1 --worker-cpu 4 --seed 1\n");
  CoordinatorCommandOptions& c = found.coordinator;
  coordinator
      ->add_option("file", c.file,
                   "A workload of learners and collectors (default: none, only managers' trials)")
      ->type_name("FILE");
  coordinator
      ->add_option("--seed", c.seed,
                   "Seed of the workload and of draws from buffers (default: the one in the "
                   "journal, or a random one for a new journal)")
      ->type_name("N")
      ->check(seeds());
  coordinator
      ->add_option("--dir", c.directory,
                   "Folder of its journal and its address (default: attune-coordinator)")
      ->type_name("DIR");
  connection_options(coordinator, c);
  own_worker_options(coordinator, c);
  among(coordinator->add_option("--durability", found.durability,
                                "When the journal is flushed to the disk: before each answer, each "
                                "second, or never (default: second)"),
        "always|second|never");
  coordinator
      ->add_option("--leave-after", c.leave_after,
                   "End after so long without a client and without a task (default: never)")
      ->transform(duration())
      ->check(amount())
      ->type_name("DURATION");
  among(coordinator->add_option("--log-level", c.log_level, "Level of the log (default: info)"),
        "trace|debug|info|warning|error");
}

// What the worker has, and which tasks it takes.
void offer_options(CLI::App* worker, ParsedOptions& found) {
  WorkerCommandOptions& w = found.worker;
  worker->add_option("--cpu", w.cpu, "Processors (default: what the machine has)")
      ->check(amount())
      ->type_name("N");
  worker->add_option("--gpu", w.gpu, "GPUs (default: what nvidia-smi finds)")
      ->check(amount())
      ->type_name("N");
  worker->add_option("--memory", w.memory, "Bytes (default: what the machine has)")
      ->transform(CLI::AsSizeValue(true))
      ->check(amount())
      ->type_name("BYTES");
  worker
      ->add_option("--resource", found.amounts,
                   "How much it has of a kind of your own, such as a licence")
      ->type_name("NAME=AMOUNT");
  worker->add_option("--label", w.labels, "A label that tasks may require")->type_name("LABEL");
  worker->add_option("--kind", w.kinds, "A kind of tasks to take (default: all)")
      ->type_name("KIND");
  worker->add_option("--tasks", w.tasks, "End after so many tasks")
      ->check(CLI::Range(1, 1'000'000'000))
      ->type_name("N");
}

void add_worker(CLI::App& app, ParsedOptions& found) {
  CLI::App* worker =
      command(app, found, kGroup, "worker", "Run tasks of a coordinator", &ParsedOptions::worker,
              "  attune worker --join /shared/pool --label fast\n"
              "  attune worker --join head:7000 --secret-file worker.json --cpu 8\n");
  WorkerCommandOptions& w = found.worker;
  worker
      ->add_option("--join", w.join, "The coordinator's folder, or worker.json of it, or HOST:PORT")
      ->required()
      ->type_name("ADDRESS");
  worker
      ->add_option(
          "--secret-file", w.secret_file,
          "With HOST:PORT: worker.json of the coordinator's folder, or a file with the secret")
      ->type_name("FILE");
  worker
      ->add_option("--name", w.name,
                   "Name of the worker (default: host and process id). A worker that the same user "
                   "starts again under the same name goes on with its trials")
      ->type_name("NAME");
  offer_options(worker, found);
  worker->add_option("--leave-after", w.leave_after, "End after so long without a task")
      ->transform(duration())
      ->check(amount())
      ->type_name("DURATION");
  worker
      ->add_option("--unreachable-after", w.unreachable_after,
                   "End when the coordinator could not be reached for so long and nothing runs")
      ->transform(duration())
      ->check(amount())
      ->type_name("DURATION");
  worker->add_flag(
      "--job", w.job,
      "Run as a job of a batch system: SIGTERM ends the trials as lost. (SIGUSR1 always does.)");
  worker
      ->add_option(
          "--environment", w.environment,
          "Environment of the trials: a file of NAME=VALUE entries, each followed by a zero byte")
      ->type_name("FILE");
  worker->add_option("--lock", w.lock, "End at once when another process holds this file")
      ->type_name("FILE");
}

void add_pool_view(CLI::App& app, ParsedOptions& found) {
  CLI::App* pool =
      command(app, found, kGroup, "pool", "Show workers, tasks and buffers", &ParsedOptions::pool,
              "  attune pool\n"
              "  attune pool --join /shared/pool --json\n"
              "  attune pool cancel TASK\n"
              "  attune pool drain WORKER\n");
  pool->add_option("--join", found.pool.join,
                   "HOST:PORT, or the coordinator's folder (default: attune-coordinator, else that "
                   "of the newest experiment in attune-experiments)")
      ->type_name("ADDRESS");
  pool->add_option("--secret-file", found.pool.secret_file,
                   "With HOST:PORT: view.json of the coordinator's folder (for cancel and drain: "
                   "client.json), or a file with the secret")
      ->type_name("FILE");
  pool->add_flag("--json", found.pool.json, "Print JSON");
  // fallthrough(): options of `pool` may come after these sub-commands.
  const auto action = [&](const std::string& name, const std::string& description,
                          std::vector<std::string>& which, const std::string& type,
                          const std::string& footer) {
    CLI::App* sub = pool->add_subcommand(name, description)->fallthrough();
    sub->footer(footer);
    sub->add_option(name == "cancel" ? "tasks" : "workers", which, "As attune pool shows them")
        ->required()
        ->type_name(type);
  };
  action("cancel", "End tasks of any client. They get time to save, and are not tried again",
         found.pool.cancel, "TASK",
         "A trial is lost for its manager, which may try it again, as its retries say: to end a\n"
         "trial for good use attune kill.\n"
         "Examples:\n"
         "  attune pool cancel run-collect-17 --join /shared/pool\n");
  action("drain", "Let workers take no more tasks. They end when their tasks have ended",
         found.pool.drain, "WORKER",
         "Collectors of a workload, which do not end by themselves, are told to finish. A worker\n"
         "that is kept running (coordinator --workers) comes back.\n"
         "Examples:\n"
         "  attune pool drain w1 w2 --join /shared/pool\n");
  pool->require_subcommand(0, 1);
}

}  // namespace

void add_pool(CLI::App& app, ParsedOptions& found) {
  add_coordinator(app, found);
  add_worker(app, found);
  add_pool_view(app, found);
}

}  // namespace attune
