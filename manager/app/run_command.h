#pragma once
// The commands attune run, resume and simulate.
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "base/result.h"
#include "manager/app/experiment_session.h"
#include "manager/cli/options.h"
#include "manager/store/experiment_lock.h"

namespace attune {

// What main() asks the system for; no other source may.
struct Surroundings {
  std::vector<std::string> environment;  // "NAME=value"
  std::string program_folder;            // the folder of this program
  std::uint64_t entropy = 0;
  bool terminal = false, ansi = false;  // of standard error

  std::string path() const;  // $PATH
};

// Each runs the command to its end, and returns the exit code. Error: wrong options or input;
// main() prints it and exits with kExitUsage.
Result<int> run_experiment(const RunOptions& options, const Surroundings& surroundings);
Result<int> resume_experiment(const ResumeOptions& options, const Surroundings& surroundings);
Result<int> simulate_experiment(const SimulateOptions& options, const Surroundings& surroundings);
Result<int> serve_dashboard(const DashboardCommandOptions& options,
                            const Surroundings& surroundings);
Result<int> write_report(const ReportOptions& options);
Result<int> write_plot(const PlotOptions& options);

// ---- shared by the three

// A new experiment, before anything of it exists on disk.
struct NewExperimentSetup {
  SessionSetup session;  // imported results are in restored.ended
  std::filesystem::path working_directory;
};
// `directory` (the option --dir): the experiment's folder, which is then its working directory,
// too; empty: a new folder in the working directory of the experiment file.
Result<NewExperimentSetup> prepare_new(Experiment experiment, const std::string& directory,
                                       std::optional<std::uint64_t> seed, const std::string& daemon,
                                       bool quiet, const Surroundings& surroundings);

struct ClaimedExperiment {
  ExperimentLock lock;
  Store store;
};
// Makes the experiment's folder, takes its lock, and writes it into the store. `clock` gives the
// time. `busy`: how long each call waits while another process holds the store.
Result<ClaimedExperiment> claim(const NewExperimentSetup& setup, const Clock& clock, BusyWait busy);
// A BusyWait that waits while `goes_on()` returns true, and says so once on standard error.
BusyWait wait_for_store(const std::filesystem::path& folder, std::function<bool()> goes_on);

Result<SessionSetup> find_programs(const Surroundings& surroundings, const std::string& daemon);
// "resuming experiment abcd2345 in FOLDER (seed 7)"
std::string heading(const RunFacts& facts, std::string_view verb);
// If the experiment's folder is deleted, the store makes it again (Store::keep_folder); then the
// lock is taken in the new folder. `lock` must outlive `store`.
void keep_lock(ExperimentLock& lock, const RunFacts& facts, Store& store);
// Reads the file of --import, and returns the results that fit the search space. Adds a sentence
// about it to `messages`.
Result<std::vector<ImportData::Record>> read_imports(const std::string& file,
                                                     const Experiment& experiment, bool dry_run,
                                                     std::vector<std::string>& messages);

// Prints the result of a session, and returns its exit code.
int print_result(const SessionResult& result, bool as_json);

}  // namespace attune
