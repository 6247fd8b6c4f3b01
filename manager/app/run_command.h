#pragma once
// attune run, resume and simulate: from the command line to the end of the experiment.
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "base/result.h"
#include "manager/app/experiment_session.h"
#include "manager/cli/options.h"
#include "manager/store/experiment_lock.h"

namespace attune {

// What only main may ask the system for.
struct Surroundings {
  std::vector<std::string> environment;  // "NAME=value"
  std::string program_folder;            // where this program lies
  std::uint64_t entropy = 0;
  bool terminal = false, ansi = false;  // of standard error

  std::string path() const;  // $PATH
};

// The exit code; an error is one of usage (kExitUsage).
Result<int> run_experiment(const RunOptions& options, const Surroundings& surroundings);
Result<int> resume_experiment(const ResumeOptions& options, const Surroundings& surroundings);
Result<int> simulate_experiment(const SimulateOptions& options, const Surroundings& surroundings);

// ---- what they share

// A new experiment, decided but not begun.
struct NewExperimentSetup {
  SessionSetup session;  // what is imported: in restored.ended
  std::filesystem::path working_directory;
};
// `directory` (--dir): the experiment's own folder, which then is its own working directory too.
Result<NewExperimentSetup> prepare_new(Experiment experiment, const std::string& directory,
                                       std::optional<std::uint64_t> seed, const std::string& daemon,
                                       bool quiet, const Surroundings& surroundings);

struct ClaimedExperiment {
  ExperimentLock lock;
  Store store;
};
// Makes its folder and its place in the store; `clock` dates it. For the store of another process
// every call waits as `busy` says.
Result<ClaimedExperiment> claim(const NewExperimentSetup& setup, const Clock& clock, BusyWait busy);
// Says on standard error, once, that the store in `folder` is waited for, and waits on while
// `goes_on()`.
BusyWait wait_for_store(const std::filesystem::path& folder, std::function<bool()> goes_on);

Result<SessionSetup> find_programs(const Surroundings& surroundings, const std::string& daemon);
// "resuming experiment abcd2345 in FOLDER (seed 7)"
std::string heading(const RunFacts& facts, std::string_view verb);
// Where the folder was taken away, the one that is made in its place needs the lock, too. All of
// them outlive the session.
void keep_lock(ExperimentLock& lock, const RunFacts& facts, Store& store);
// --import: what of the file the tuner is to be told; `messages` get a sentence about it.
Result<std::vector<ImportData::Record>> read_imports(const std::string& file,
                                                     const Experiment& experiment, bool dry_run,
                                                     std::vector<std::string>& messages);

// Returns the exit code.
int print_result(const SessionResult& result, bool as_json);

}  // namespace attune
