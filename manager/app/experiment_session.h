#pragma once
// One session of an experiment: the manager's world from the first trial, or the first that is
// taken over, to the end. For `attune run` and `attune resume`.
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
  RestoredExperiment restored;       // with resume; else at most `ended`: what was imported
  std::optional<Outbox::Left> left;  // with resume: the conversation of the manager before
  std::vector<Again> again;          // with resume
  std::size_t initial_points_done = 0;
  std::vector<TrialRecord> succeeded;  // in earlier sessions, as far as the best may be among them
  ProgressOptions shown;
  std::vector<std::string> warnings;  // to be shown first
  std::vector<std::string> messages;  // to be shown after them
};

// Shows what is to be shown first.
void show_beginning(const SessionSetup& setup, Progress& progress);
// <experiment>/log/runner.log.
Result<Log> open_runner_log(const std::filesystem::path& directory, const std::string& level);
DaemonOptions daemon_options(const SessionSetup& setup);
RunnerOptions runner_options(const Experiment& experiment,
                             const std::vector<Objective>& objectives);

struct SessionResult {
  int exit_code = 0;
  ExperimentEnd outcome;
  json summary;        // for --json: what the store has, where it could be written
  std::string text;    // the summary for humans
  bool stored = true;  // all of it
};

// `store` after begin() or resume(); the experiment's lock is held. The caller ignores SIGPIPE.
// The first signal to end (INT, TERM, HUP) ends the experiment orderly, a second one kills.
Result<SessionResult> run_session(SessionSetup setup, Store& store);

}  // namespace attune
