#pragma once
// The sub-commands that ask a running manager for something: they find the experiment in the store,
// send a request to its control socket and print the answer.
#include "base/result.h"
#include "manager/cli/commands/console.h"
#include "manager/cli/options.h"

namespace attune {

// Each yields the exit code; without a manager it has said so on standard error (kExitNoManager).
Result<int> request(const StopOptions& options, const Console& console);
Result<int> request(const KillOptions& options, const Console& console);
Result<int> request(const AddOptions& options, const Console& console);
Result<int> request(const ImportOptions& options, const Console& console);
Result<int> request(const UpdateOptions& options, const Console& console);

}  // namespace attune
