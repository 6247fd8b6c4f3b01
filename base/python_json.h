#pragma once
// Writes JSON as Python does: NaN, Infinity and -Infinity are kept, while dump_json() turns them
// into null. Metrics are written in this form, because their readers have a rule for such values.
#include <string>

#include "base/json.h"

namespace attune {

// Like dump_json() otherwise. parse_json() reads it.
std::string dump_python_json(const json& value);

}  // namespace attune
