#pragma once
// attune adopt: makes an experiment file, and a file of results, of an experiment that another
// program has begun.
#include "base/result.h"
#include "manager/cli/commands/console.h"
#include "manager/cli/options.h"

namespace attune {

// Returns the exit code. Nothing is written over: an error names the file that is in the way.
Result<int> adopt(const AdoptOptions& options, const Console& console);

}  // namespace attune
