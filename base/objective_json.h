#pragma once
// Objectives as they are written: {"metric": "seconds", "mode": "minimize", "limit": 2}.
#include <vector>

#include "base/json.h"
#include "base/trial.h"

namespace attune {

json to_json(const Objective& objective);
json to_json(const std::vector<Objective>& objectives);

// Those of such an array that can be read, as far as they can: it was checked when it was written.
std::vector<Objective> objectives_of(const json& array);

}  // namespace attune
