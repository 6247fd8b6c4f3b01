#pragma once
// The sub-commands that change experiments which no manager runs.
#include "base/result.h"
#include "manager/cli/commands/console.h"
#include "manager/cli/options.h"

namespace attune {

// Each yields the exit code; an error means kExitFailed, and that nothing was changed, unless it
// says so.
Result<int> change(const RenameOptions& options, const Console& console);
Result<int> change(const DeleteOptions& options, const Console& console);

}  // namespace attune
