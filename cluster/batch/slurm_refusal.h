#pragma once
// Explains why Slurm does not take a job.
#include <string>
#include <string_view>

#include "cluster/batch/batch_job.h"
#include "cluster/batch/command_runner.h"

namespace attune {

// For an sbatch that did not succeed. Permanent are refusals that name something of the job, and
// unknown ones (a site's own rules, in its own words). A controller that cannot be reached, or a
// limit on the number of jobs, passes.
BatchRefusal slurm_refusal(const CommandEnd& end);

// What a program of Slurm wrote to stderr, or what became of the program, as one line.
std::string slurm_complaint(const CommandEnd& end);

}  // namespace attune
