#pragma once
// The command line of attune: one struct for each sub-command, in one variant.
// docs/commands.md describes them for users.
#include <cstdint>
#include <expected>
#include <map>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "manager/trials/trial_record.h"
#include "os/durability.h"

namespace attune {

// The exit codes of every sub-command. They are documented: scripts rely on them.
enum ExitCode {
  kExitOk = 0,
  kExitFailed = 1,     // the experiment failed, or what was asked for could not be done
  kExitUsage = 2,      // command line or experiment file; nothing was done
  kExitNoManager = 3,  // it needs a manager, and none runs
  kExitInterrupted = 130
};

// Which experiment: of the working directory `directory` (or the folder of one experiment), named
// by id, beginning of an id, or name; empty: the newest.
struct ExperimentChoice {
  std::string directory = "attune-experiments";
  std::string experiment;
  bool json = false;  // output as JSON
};

struct RunOptions {
  std::string file;
  std::optional<std::uint64_t> seed;
  std::string directory;    // --dir; empty: a new folder in experimentWorkingDirectory
  std::string import_file;  // results that the tuner is told first; empty: none
  std::optional<std::int64_t> max_trials;
  std::optional<int> concurrency;
  std::string daemon;
  bool quiet = false;
  bool json = false;
  bool dry_run = false;  // check everything, run nothing
};
struct ResumeOptions {
  ExperimentChoice which;
  // Class of failure (failed, signalled, out_of_memory, lost, stopped) -> skip, restart or resume.
  std::map<std::string, std::string> retries;
  std::string search_space;  // a file; empty: as it is
  std::string import_file;   // as in RunOptions
  std::optional<std::int64_t> max_trials;
  std::optional<int> concurrency;
  std::optional<double> max_seconds;
  std::string daemon;
  bool quiet = false;
  bool dry_run = false;
};
struct SimulateOptions {
  std::string file;
  std::string curves;  // recorded learning curves; empty: generated ones
  std::optional<std::int64_t> max_trials;
  std::optional<int> epochs;  // of a generated curve
  std::optional<int> concurrency;
  std::optional<std::uint64_t> seed;
  std::string directory;  // as in RunOptions
  std::string daemon;
  bool quiet = false;
  bool json = false;
};
struct StopOptions {
  ExperimentChoice which;
  bool kill = false;  // without grace for the trials
  bool wait = true;   // until its manager has ended
};
struct KillOptions {
  ExperimentChoice which;
  std::vector<std::string> trials;
};
struct AddOptions {
  ExperimentChoice which;
  std::string parameters;  // JSON text, or the path of a file that holds it
};
struct ImportOptions {
  ExperimentChoice which;
  std::string file;
  bool dry_run = false;
};
struct UpdateOptions {
  ExperimentChoice which;
  std::string search_space;  // a file; empty: as it is
  std::optional<int> concurrency;
  std::optional<double> max_seconds;
  std::optional<std::int64_t> max_trials;
};
struct ListOptions {
  std::string directory = "attune-experiments";
  bool json = false;
};
struct StatusOptions {
  ExperimentChoice which;
};
struct TrialsOptions {
  ExperimentChoice which;
  std::vector<TrialStatus> statuses;  // empty: all
  std::string sort = "sequence";      // "sequence", "newest", "best"
  std::optional<std::int64_t> limit;
};
struct ShowOptions {
  ExperimentChoice which;
  std::string trial;
};
struct LogsOptions {
  ExperimentChoice which;
  std::string trial;
  bool from_stderr = false;
  bool follow = false;
};
struct BestOptions {
  ExperimentChoice which;
  std::optional<std::int64_t> count;  // one, or all trade-offs
  std::string format;                 // of parameter_text(): these alone; empty: for people
};
struct ExportOptions {
  ExperimentChoice which;
  bool reports = false;        // all intermediate results instead of trials
  std::string format = "csv";  // "csv", "jsonl"
  std::string output;          // empty: standard output
};
struct ConfigOptions {
  ExperimentChoice which;
};
struct CompareOptions {
  std::string directory = "attune-experiments";
  std::vector<std::string> experiments;
  bool json = false;
};
struct RenameOptions {
  ExperimentChoice which;
  std::string name;
};
struct DeleteOptions {
  std::string directory = "attune-experiments";
  std::vector<std::string> experiments;
  bool yes = false;  // without being asked
  bool json = false;
};
struct CompletionWordsOptions {
  ExperimentChoice which;
  std::string what;  // "experiments", "trials"
};

struct CoordinatorCommandOptions {
  std::string file;  // a workload; empty: only tasks of clients
  std::optional<std::uint64_t> seed;
  std::string directory = "attune-coordinator";
  std::string listen = "127.0.0.1:0";
  std::string advertise;  // what others dial; empty: what it listens on
  int workers = 0;        // on this machine
  double worker_cpu = 0;  // of each; 0: what the machine has
  Durability durability = Durability::each_second;
  double lost_after = 15;  // seconds
  double silence = 10;     // seconds, of connections
  double leave_after = 0;  // seconds without client and task; 0: stays
  std::string log_level = "info";
  std::string slurm;          // file of settings; empty: no jobs
  std::string scale_command;  // run when other workers are wanted; empty: none
  int most_workers = 16;      // that it is asked for
};
struct WorkerCommandOptions {
  std::string join;         // HOST:PORT, or a coordinator's folder, or the file of the role in it
  std::string secret_file;  // with HOST:PORT
  std::string name;         // empty: host and process
  std::optional<double> cpu, gpu, memory;  // instead of what is found
  std::map<std::string, double> custom;
  std::vector<std::string> labels, kinds;
  std::string lock;              // a file that only one process can hold
  std::uint64_t tasks = 0;       // goes after so many; 0: stays
  double leave_after = 0;        // seconds without a task; 0: stays
  double unreachable_after = 0;  // seconds without a coordinator; 0: stays
  bool job = false;              // of a batch system, which says with SIGTERM that it ends
  std::string environment;       // file of what trials inherit; empty: its own
};

struct PoolOptions {
  std::string
      join;  // as WorkerCommandOptions; empty: attune-coordinator, or the newest experiment's
  std::string secret_file;
  bool json = false;
  // What is to be done instead of looking; not both.
  std::vector<std::string> cancel;  // tasks
  std::vector<std::string> drain;   // workers
};

using CommandOptions =
    std::variant<RunOptions, ResumeOptions, SimulateOptions, StopOptions, KillOptions, AddOptions,
                 ImportOptions, UpdateOptions, ListOptions, StatusOptions, TrialsOptions,
                 ShowOptions, LogsOptions, BestOptions, ExportOptions, ConfigOptions,
                 CompareOptions, RenameOptions, DeleteOptions, CompletionWordsOptions,
                 CoordinatorCommandOptions, WorkerCommandOptions, PoolOptions>;

// What is to be printed instead of running: help, version, a completion script (to standard
// output), a usage error (to standard error).
struct CommandLineEnd {
  int exit_code = 0;
  std::string text;
};

std::expected<CommandOptions, CommandLineEnd> parse_command_line(int argc, const char* const* argv);

}  // namespace attune
