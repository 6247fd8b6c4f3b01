#pragma once
// The settings of a trial runner.
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/trial.h"
#include "manager/trials/checkpoint_keeper.h"
#include "manager/trials/trial_rules.h"
#include "manager/trials/tuning_status.h"
#include "protocol/command.h"

namespace attune {

struct RunnerOptions {
  int concurrency = 1;
  // Then the runner declines new trials of the tuner, and lets the last ones run to their end.
  std::optional<std::int64_t> max_trials;
  std::optional<double> max_seconds;        // then the experiment ends, and stops running trials
  std::optional<double> max_trial_seconds;  // of one attempt, which is then stopped early
  std::vector<Objective> objectives = {Objective{}};  // the first one is the score of a trial
  std::string fidelity = {};  // the metric that counts how far a trial is; see iteration_of()
  // Where trials report their results, for messages.
  std::string result_place = "in a FINAL record in $NNI_SYS_DIR/.nni/metrics";
  TrialRules trial;           // for trials without rules of their own
  bool in_step = false;       // a report of a trial returns when the decider has judged it
  Resources capacity;         // each kind that is not 0 replaces what the backend says
  bool queue_trials = false;  // see ResourcePool
  CheckpointRules checkpoint;
  StopRules stop;
  // Seconds between two tries of a start that fails, and of a save for which the disk has no room.
  double start_retry_seconds = 2;
  // When nothing but a proposal can move the experiment on, it fails after so long without one.
  double proposal_seconds = 600;
  // While the store cannot be written: the seconds between two tries, and for how long the runner
  // tries. Then the experiment ends, and leaves its trials running. Starts and saves that fail are
  // tried for memory_patience_seconds, too.
  double memory_retry_seconds = 1, memory_patience_seconds = 600;
  // Reads the results of all trials that have ended from the store, for a decider that has lost its
  // memory.
  std::function<Result<std::vector<ImportData::Record>>()> results = {};

  const Objective& objective() const { return objectives.front(); }
};

}  // namespace attune
