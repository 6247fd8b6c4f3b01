#pragma once
// The commands attune coordinator, attune worker and attune pool.
#include "base/result.h"
#include "manager/app/run_command.h"
#include "manager/cli/commands/console.h"
#include "manager/cli/options.h"

namespace attune {

// Each runs the command to its end, and returns the exit code. Error: wrong options or input.
Result<int> run_coordinator(const CoordinatorCommandOptions& options,
                            const Surroundings& surroundings);
Result<int> run_worker(const WorkerCommandOptions& options, const Surroundings& surroundings);
Result<int> show_pool(const PoolOptions& options, const Console& console,
                      const Surroundings& surroundings);

}  // namespace attune
