#pragma once
// The task that an attempt of a trial is for the coordinator.
#include <string>

#include "cluster/pool/backend/pool_backend.h"
#include "cluster/pool/task.h"

namespace attune {

// Unique for ever: EXPERIMENT-TRIAL-ATTEMPT.
std::string task_id_of(const PoolBackendOptions& options, const TrialStart& start);
// Of one attempt; its program says how a worker finds the trial.
TaskSpec task_of(const PoolBackendOptions& options, const TrialStart& start);

}  // namespace attune
