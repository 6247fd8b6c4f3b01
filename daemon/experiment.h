#pragma once
// The experiment parameters that a manager passes in --exp_params, of NNI's schema v1 or v2.
#include "base/result.h"
#include "daemon/configuration.h"

namespace attune {

// Fills tuner, assessor, context and capabilities. Keys that are the manager's own business are
// left alone. Errors name the key.
Result<void> read_experiment(const json& experiment, Configuration& configuration);

}  // namespace attune
