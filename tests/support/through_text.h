#pragma once
#include "base/json.h"

namespace attune {

// A state as a snapshot goes through a file.
inline json through_text(const json& state) { return parse_json(dump_json(state)).value(); }

}  // namespace attune
