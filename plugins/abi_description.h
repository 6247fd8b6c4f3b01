#pragma once
// What a shared object says of its algorithms.
#include <vector>

#include "base/result.h"
#include "plugins/attune_plugin.h"
#include "plugins/plugin.h"

namespace attune {

// One for each algorithm, in the plug-in's order. Errors: a function or a name is missing, or what
// description.h demands of names, helps and defaults does not hold.
Result<std::vector<PluginDescription>> descriptions_of(const attune_plugin& plugin);

}  // namespace attune
