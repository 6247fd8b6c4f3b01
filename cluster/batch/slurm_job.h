#pragma once
// A job in Slurm's terms.
#include <expected>
#include <string>
#include <vector>

#include "cluster/batch/batch_job.h"

namespace attune {

// The options of sbatch. Time is in whole minutes and memory in MiB, both rounded up: those are
// Slurm's units, and 0 of either means "all there is" to it. What Slurm cannot have, or what would
// take the job out of our sight, is refused.
std::expected<std::vector<std::string>, BatchRefusal> slurm_options(const BatchJob& job);

}  // namespace attune
