#pragma once
// The search space of a stored experiment, and the parameters of its trials in it.
#include "base/json.h"
#include "base/result.h"
#include "manager/store/store_reader.h"
#include "space/space.h"

namespace attune {

// Error: attune cannot read it, since only the tuner knows what it means, or it is empty.
Result<Space> searched_space(const StoredExperiment& experiment);

// `parameters` without the budget that some tuners put beside them, unless the space has a
// parameter of that name.
json without_budget(const Space& space, const json& parameters);

}  // namespace attune
