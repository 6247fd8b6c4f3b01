#pragma once
// attune coordinator, attune worker, attune pool: from the command line to their end.
#include "base/result.h"
#include "manager/app/run_command.h"
#include "manager/cli/commands/console.h"
#include "manager/cli/options.h"

namespace attune {

// The exit code; an error is one of usage.
Result<int> run_coordinator(const CoordinatorCommandOptions& options,
                            const Surroundings& surroundings);
Result<int> run_worker(const WorkerCommandOptions& options, const Surroundings& surroundings);
Result<int> show_pool(const PoolOptions& options, const Console& console,
                      const Surroundings& surroundings);

}  // namespace attune
