#pragma once
// The JSON form of objectives: {"metric": "seconds", "mode": "minimize", "limit": 2}.
#include <vector>

#include "base/json.h"
#include "base/trial.h"

namespace attune {

json to_json(const Objective& objective);
json to_json(const std::vector<Objective>& objectives);

// Reads such an array. It ignores what it cannot read, because the array was checked when it was
// written.
std::vector<Objective> objectives_of(const json& array);

}  // namespace attune
