#pragma once
// A job in Slurm's terms.
#include <expected>
#include <optional>
#include <string>
#include <vector>

#include "cluster/batch/batch_job.h"

namespace attune {

struct JobFlaw {
  std::string about;  // what of the job to change, as BatchRefusal::about
  std::string why;
};

// What Slurm cannot have, or what would take the job out of our sight; nothing: it may be
// submitted.
std::optional<JobFlaw> slurm_flaw(const BatchJob& job);

// The options of sbatch. Time is in whole minutes and memory in MiB, both rounded up: those are
// Slurm's units, and 0 of either means "all there is" to it. A job with a flaw is refused.
std::expected<std::vector<std::string>, BatchRefusal> slurm_options(const BatchJob& job);

}  // namespace attune
