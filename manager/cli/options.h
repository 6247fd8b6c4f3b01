#pragma once
// Parses the command line of attune into a variant with one struct for each sub-command.
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

// The exit codes of all sub-commands. They are documented, and scripts rely on them.
enum CommandExit {
  kExitOk = 0,
  kExitFailed = 1,     // the experiment failed, or the command could not do what it was asked for
  kExitUsage = 2,      // the command line or a file is wrong; nothing was done
  kExitNoManager = 3,  // the command needs a running manager, and there is none
  kExitInterrupted = 130
};

// Chooses an experiment (StoreReader::find). `directory`: a working directory, or the folder of one
// experiment. `experiment`: its id, the beginning of its id, or its name; empty: the newest.
struct ExperimentChoice {
  std::string directory = "attune-experiments";
  std::string experiment;
  bool json = false;  // output as JSON
};

// Of RunOptions::dashboard: as DashboardCommandOptions::listen does without a value.
inline constexpr const char* kUsualPlace = "usual";

struct RunOptions {
  std::string file;
  std::optional<std::uint64_t> seed;
  std::string directory;    // --dir; empty: a new folder in experimentWorkingDirectory
  std::string import_file;  // results to tell the tuner before the first trial; empty: none
  std::optional<std::int64_t> max_trials;
  std::optional<int> concurrency;
  std::string daemon;
  bool quiet = false;
  bool json = false;
  bool dry_run = false;   // check everything, run nothing
  std::string dashboard;  // where one listens while it runs; kUsualPlace; empty: no dashboard
};
struct ResumeOptions {
  ExperimentChoice which;
  // Class of failure (failed, signalled, out_of_memory, lost, stopped) -> skip, restart or resume.
  std::map<std::string, std::string> retries;
  std::string search_space;  // a file; empty: unchanged
  std::string import_file;   // as in RunOptions
  std::optional<std::int64_t> max_trials;
  std::optional<int> concurrency;
  std::optional<double> max_seconds;
  std::string daemon;
  bool quiet = false;
  bool dry_run = false;
  std::string dashboard;  // as in RunOptions
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
  bool wait = true;   // until the manager has ended
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
  std::string search_space;  // a file; empty: unchanged
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
  std::optional<std::int64_t> count;  // nothing: one, or all trade-offs
  bool by_model = false;  // the trial that a model expects to be the best, instead of the observed
  std::string format;  // print only the parameters, in this format of parameter_text(); empty: all
};
struct ExportOptions {
  ExperimentChoice which;
  bool reports = false;        // all intermediate results instead of trials
  std::string format = "csv";  // "csv", "jsonl", or one of find_export_format()
  std::string output;          // a file or a folder; empty: standard output
};
struct ImportanceOptions {
  ExperimentChoice which;
  std::string method;  // "ped-anova", "fanova"; always set
  std::string metric;  // an objective; empty: the first
  bool pairs = false;  // only of fanova
};
struct AdoptOptions {
  std::string file;
  std::string study;                       // which one in the file; empty: the only one
  std::string trial_command;               // for the experiment file; empty: left out
  std::string output = "experiment.yaml";  // the results are beside it, as .jsonl
  bool json = false;
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
  bool yes = false;  // do not ask
  bool json = false;
};
struct CompletionWordsOptions {
  ExperimentChoice which;
  std::string what;  // "experiments", "trials"
};

struct McpOptions {
  std::string directory = "attune-experiments";
  bool allow_changes = false;  // offer the tools that change experiments
};

struct DashboardCommandOptions {
  std::vector<std::string> directories = {"attune-experiments"};
  std::string listen;  // HOST:PORT or unix:PATH; empty: loopback, at the usual port if it is free
  std::vector<std::string> allow_hosts;
  bool allow_remote = false;
  std::string token_file;  // keeps the token from start to start; empty: a new one each time
  bool read_only = false;
  bool nni_rest = false;        // NNI's clients see the newest experiment, too
  bool open = false;            // in the user's browser
  bool end_with_input = false;  // ends when standard input does
};

struct ReportOptions {
  ExperimentChoice which;
  std::string output = "report.html";
};

struct PlotOptions {
  std::string kind;  // of picture (picture_kinds())
  ExperimentChoice which;
  std::string output;  // ends with .svg or .png
  std::string metric;  // an objective; empty: the first
  std::vector<std::string> parameters;
  std::int64_t best = 6;  // curves of so many trials
  bool log = false;
  double width = 720, height = 450;
};

struct CoordinatorCommandOptions {
  std::string file;  // of a workload; empty: the coordinator only runs tasks of clients
  std::optional<std::uint64_t> seed;
  std::string directory = "attune-coordinator";
  std::string listen = "127.0.0.1:0";
  std::string advertise;  // HOST:PORT that others dial; empty: the same as listen
  int workers = 0;        // to keep running on this machine
  double worker_cpu = 0;  // cores of each of them; 0: all of the machine
  Durability durability = Durability::each_second;
  double lost_after = 15;  // seconds; CoordinatorOptions::lost_after
  double silence = 10;     // seconds; a connection that is silent for so long is closed
  double leave_after = 0;  // seconds without client and task; 0: stays
  std::string log_level = "info";
  std::string slurm;          // a file of settings; empty: starts no jobs
  std::string scale_command;  // runs when the number of wanted workers changes; empty: none
  int most_workers = 16;      // the most that scale_command is asked for
};
struct WorkerCommandOptions {
  std::string join;         // as for dial_options(): HOST:PORT, a folder, or an address file
  std::string secret_file;  // with HOST:PORT
  std::string name;         // empty: made of host and process id
  std::optional<double> cpu, gpu, memory;  // replace what the machine has
  std::map<std::string, double> custom;
  std::vector<std::string> labels, kinds;
  std::string lock;              // a file that the worker locks; empty: none
  std::uint64_t tasks = 0;       // it leaves after so many tasks; 0: stays
  double leave_after = 0;        // seconds without a task; 0: stays
  double unreachable_after = 0;  // seconds without a coordinator; 0: stays
  bool job = false;         // it is the job of a batch system, for which SIGTERM means that it ends
  std::string environment;  // the file of job_environment(); empty: trials inherit the worker's own
};

struct PoolOptions {
  // As WorkerCommandOptions; empty: attune-coordinator, or that of the newest experiment.
  std::string join;
  std::string secret_file;
  bool json = false;
  // At most one of these is set. Neither: the command shows the state of the pool.
  std::vector<std::string> cancel;  // tasks to end
  std::vector<std::string> drain;   // workers to drain
};

using CommandOptions =
    std::variant<RunOptions, ResumeOptions, SimulateOptions, StopOptions, KillOptions, AddOptions,
                 ImportOptions, AdoptOptions, UpdateOptions, ListOptions, StatusOptions,
                 TrialsOptions, ShowOptions, LogsOptions, BestOptions, ExportOptions,
                 ImportanceOptions, ConfigOptions, CompareOptions, RenameOptions, DeleteOptions,
                 CompletionWordsOptions, CoordinatorCommandOptions, WorkerCommandOptions,
                 PoolOptions, McpOptions, DashboardCommandOptions, ReportOptions, PlotOptions>;

// A text to print instead of running a command: help, version or completion script (exit code 0, to
// standard output), or a usage error (to standard error).
struct CommandLineEnd {
  int exit_code = 0;
  std::string text;
};

std::expected<CommandOptions, CommandLineEnd> parse_command_line(int argc, const char* const* argv);

}  // namespace attune
