#pragma once
// The value of one parameter from JSON, and back. Private to the room. Errors do not name the path.
#include "base/json.h"
#include "base/result.h"
#include "space/space.h"

namespace attune {

// As a trial has it (to_json()). Not for nested choices. An integer may be written 3.0, a candidate
// is found by equal JSON, and reals outside of their bounds by up to 1e-12, relatively, are
// clipped.
Result<double> value_from_json(const Domain& domain, const json& value);

// The option of a nested choice with this `_name`.
Result<double> option_named(const Choice& choice, const json& name);

// As a search space states it (`_default`): as above, but a nested choice is the name of its
// option, a layer_choice its candidate, and an input_choice the list of its candidates.
Result<double> stated_from_json(const Domain& domain, const json& value);
json stated_json(const Domain& domain, double value);

}  // namespace attune
