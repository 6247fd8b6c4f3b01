#pragma once
// What `attune pool` prints.
#include <string>

#include "base/json.h"
#include "base/result.h"
#include "manager/cli/commands/console.h"

namespace attune {

// Tables of the workers, tasks and buffers of a coordinator. `status`: its answer
// (docs/wire.md); the error: it is none, as from another version.
Result<std::string> pool_text(const json& status, const Console& console);

}  // namespace attune
