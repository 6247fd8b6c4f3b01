#pragma once
// Makes the coordinator's task from an attempt of a trial.
#include <string>

#include "cluster/pool/backend/pool_backend.h"
#include "cluster/pool/task.h"

namespace attune {

// Unique for ever: EXPERIMENT-TRIAL-ATTEMPT.
std::string task_id_of(const PoolBackendOptions& options, const TrialStart& start);
// A task with a single attempt. Its program tells a worker how to find the trial.
TaskSpec task_of(const PoolBackendOptions& options, const TrialStart& start);

}  // namespace attune
