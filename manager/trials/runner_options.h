#pragma once
// What a trial runner is told of its experiment.
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
  std::optional<std::int64_t> max_trials;   // that are started; those that run then are waited for
  std::optional<double> max_seconds;        // of the experiment; running trials are stopped then
  std::optional<double> max_trial_seconds;  // of an attempt; it is stopped early then
  std::vector<Objective> objectives = {Objective{}};  // the first one is what a trial's score is
  std::string result_place = "in a FINAL record in $NNI_SYS_DIR/.nni/metrics";  // for messages
  TrialRules trial;           // of each trial that has none of its own
  Resources capacity;         // instead of the backend's, kind by kind, where not 0
  bool queue_trials = false;  // see ResourcePool
  CheckpointRules checkpoint;
  StopRules stop;
  double start_retry_seconds = 2;  // a start that failed is tried again after so long
  double proposal_seconds = 600;   // with nothing else to do, a proposal is waited for so long
  // While nothing can be stored: the time between two tries, and how long they go on. Then the
  // experiment ends without its trials, which run on. A start that fails is tried for as long.
  double memory_retry_seconds = 1, memory_patience_seconds = 600;
  // Results of all trials that have ended, for a decider that has lost its memory.
  std::function<Result<std::vector<ImportData::Record>>()> results = {};

  const Objective& objective() const { return objectives.front(); }
};

}  // namespace attune
