#pragma once
// Reads what a plug-in says of its algorithms. docs/plugin-protocol.md has the format, which is
// that of `attuned --list --json`.
#include <string_view>
#include <vector>

#include "base/json.h"
#include "base/result.h"
#include "plugins/plugin.h"

namespace attune {

// `algorithms` is an array with one object for each algorithm, at least one. An error has a place:
//
//   algorithms[0].arguments[1].type: unknown type "numbr"; did you mean "number"?
//
// Names are as check_name() says, and differ, whatever their case. Helps and summaries are as
// check_printable() says. A default is a value that the argument accepts, or null. optimize_mode
// and seed are not declared, because every algorithm has them.
Result<std::vector<PluginDescription>> read_descriptions(const json& algorithms);

// Whether every algorithm has an argument of this name: optimize_mode, seed.
bool is_common_argument(std::string_view name);

}  // namespace attune
