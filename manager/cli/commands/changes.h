#pragma once
// The sub-commands attune rename and attune delete, which change experiments that no manager runs.
#include "base/result.h"
#include "manager/cli/commands/console.h"
#include "manager/cli/options.h"

namespace attune {

// Each returns the exit code. An error means kExitFailed. Nothing was changed then, unless the
// error says so; but attune delete may have deleted experiments that were named before the one that
// it could not delete.
Result<int> change(const RenameOptions& options, const Console& console);
Result<int> change(const DeleteOptions& options, const Console& console);

}  // namespace attune
