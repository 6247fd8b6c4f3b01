#pragma once
// Runs one session of an experiment, for `attune run` and `attune resume`: makes the daemon, the
// backend, the trial runner and the control socket, and turns the event loop until the experiment
// has ended.
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "manager/app/restore.h"
#include "manager/cli/reporter.h"
#include "manager/decider/daemon_decider.h"
#include "manager/experiment/experiment.h"
#include "manager/store/store.h"
#include "manager/trials/trial_runner.h"

namespace attune {

struct SessionSetup {
  Experiment experiment;
  RunFacts facts;
  std::filesystem::path daemon;   // attuned
  std::filesystem::path shim;     // attune-shim
  std::filesystem::path program;  // attune
  std::uint64_t entropy = 0;
  std::vector<std::string> environment;  // what daemon and trials inherit
  bool resume = false;
  RestoredExperiment restored;       // with resume; else only `ended` may be set: imported results
  std::optional<Outbox::Left> left;  // with resume: the conversation of the earlier manager
  json earlier = nullptr;            // DaemonOptions::earlier
  std::vector<Again> again;          // with resume: trials to try again
  std::size_t initial_points_done = 0;  // so many initial points are trials already
  // With resume: StoreReader::best(), with which the session's own results are compared.
  std::vector<TrialRecord> succeeded;
  ProgressOptions shown;
  std::string dashboard;              // as RunOptions::dashboard
  std::vector<std::string> warnings;  // show_beginning() shows these,
  std::vector<std::string> messages;  // then these
};

void show_beginning(const SessionSetup& setup, ProgressLine& progress);
// Appends to <experiment>/log/runner.log.
Result<Log> open_runner_log(const std::filesystem::path& directory, const std::string& level);
DaemonOptions daemon_options(const SessionSetup& setup);
RunnerOptions runner_options(const Experiment& experiment,
                             const std::vector<Objective>& objectives);

struct SessionResult {
  int exit_code = 0;
  ExperimentEnd outcome;
  json summary;        // for --json (Reporter::summary)
  std::string text;    // the summary for humans
  bool stored = true;  // all results and the end of the experiment are in the store
};

// Call store.begin() or store.resume() before, hold the experiment's lock, and ignore SIGPIPE. The
// first SIGINT, SIGTERM or SIGHUP stops the trials, and ends the experiment in order; the second
// one kills the trials. Error: the session could not be set up.
Result<SessionResult> run_session(SessionSetup setup, Store& store);

}  // namespace attune
