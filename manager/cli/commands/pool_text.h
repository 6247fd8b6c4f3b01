#pragma once
// The output of `attune pool`.
#include <string>

#include "base/json.h"
#include "base/result.h"
#include "manager/cli/commands/console.h"

namespace attune {

// Tables of the workers, tasks and buffers of a coordinator. `status`: its answer (docs/wire.md).
// Error: keys are missing or wrong, such as those of another version.
Result<std::string> pool_text(const json& status, const Console& console);

}  // namespace attune
