#pragma once
// The experiment parameters that a manager passes in --exp_params, of NNI's schema v1 or v2.
#include "base/result.h"
#include "daemon/configuration.h"

namespace attune {

// Fills tuner, assessor, context, constraints and capabilities. Keys that are the manager's own
// business are left alone. Errors name the key.
Result<void> read_experiment(const json& experiment, Configuration& configuration);

// Gives tuner and assessor the direction of the first objective, if there are any. Error: one of
// them was told another one.
Result<void> apply_objectives(Configuration& configuration);

}  // namespace attune
