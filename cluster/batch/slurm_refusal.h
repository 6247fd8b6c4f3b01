#pragma once
// Why Slurm does not take a job.
#include <string>
#include <string_view>

#include "cluster/batch/batch_job.h"
#include "cluster/batch/command_runner.h"

namespace attune {

// Of an sbatch that did not succeed. Permanent are those that name something of the job, and those
// that are not known (a site's own rules, in its own words); a controller that cannot be reached,
// or a limit of how many jobs there may be, passes.
BatchRefusal slurm_refusal(const CommandEnd& end);

// What a client said on stderr, or what became of it, as one line.
std::string slurm_complaint(const CommandEnd& end);

}  // namespace attune
