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

// What Slurm cannot have, or what would hide the job from us; nothing: the job may be submitted.
std::optional<JobFlaw> slurm_flaw(const BatchJob& job);

// The options of sbatch. Time is in whole minutes and memory in MiB, which are Slurm's units. Both
// are rounded up, because 0 of either means "all there is" to Slurm. A job with a flaw is refused.
std::expected<std::vector<std::string>, BatchRefusal> slurm_options(const BatchJob& job);

}  // namespace attune
