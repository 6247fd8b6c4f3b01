#pragma once
// The sub-commands that send a request to a running manager: they find the experiment in the store,
// send the request to its control socket, and print the answer.
#include "base/result.h"
#include "manager/cli/commands/console.h"
#include "manager/cli/options.h"

namespace attune {

// Each returns the exit code. If no manager runs, it prints so on standard error, and returns
// kExitNoManager.
Result<int> request(const StopOptions& options, const Console& console);
Result<int> request(const KillOptions& options, const Console& console);
Result<int> request(const AddOptions& options, const Console& console);
Result<int> request(const ImportOptions& options, const Console& console);
Result<int> request(const UpdateOptions& options, const Console& console);

}  // namespace attune
