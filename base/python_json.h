#pragma once
// JSON as Python writes it: NaN, Infinity and -Infinity stay what they are, which dump_json() has
// to make null. Metrics are written so, since whoever reads them has a rule for such values.
#include <string>

#include "base/json.h"

namespace attune {

// Otherwise as dump_json(); parse_json() reads it.
std::string dump_python_json(const json& value);

}  // namespace attune
