#pragma once
// States that no algorithm has saved.
#include <functional>
#include <vector>

#include "base/json.h"
#include "conformance/findings.h"

namespace attune::conformance {

// Offers `load` what cannot be a state of the algorithm: other types, and the object `good` with
// one member gone, or replaced by one of `replacements`. `load` returns whether it accepts.
void expect_damage_is_refused(const json& good, const std::function<bool(const json&)>& load,
                              const std::vector<json>& replacements, Findings& findings);

}  // namespace attune::conformance
