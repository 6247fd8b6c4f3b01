#pragma once
// Reads what a plug-in says of its algorithms. docs/plugin-protocol.md has the format, which is
// that of `attuned --list --json`.
#include <vector>

#include "base/json.h"
#include "base/result.h"
#include "plugins/plugin.h"

namespace attune {

// `algorithms` is an array with one object for each algorithm, at least one. An error has a place:
//
//   algorithms[0].arguments[1].type: unknown type "numbr"; did you mean "number"?
//
// Names and helps are printable; names differ, whatever their case; a default is a value that the
// argument accepts, or null; optimize_mode and seed are not declared, because every algorithm has
// them.
Result<std::vector<PluginDescription>> read_descriptions(const json& algorithms);

}  // namespace attune
