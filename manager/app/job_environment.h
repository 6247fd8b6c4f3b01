#pragma once
// The environment that trials inherit on a node of a cluster: that of whoever started the
// coordinator, with the variables of the batch system's job.
#include <filesystem>
#include <string>
#include <vector>

#include "base/result.h"

namespace attune {

// Writes the variables ("NAME=value"), each followed by a zero byte. They may hold secrets, so only
// the user may read the file.
Result<void> write_environment(const std::filesystem::path& file,
                               const std::vector<std::string>& environment);
// The environment for the trials of a worker: the variables in the file of write_environment(), but
// those that belong to the job (is_of_job(), cluster/batch/slurm_commands.h) from `own`, the
// worker's environment. The rest of `own` comes from the node, and is left out. If `file` is empty:
// all of `own`.
Result<std::vector<std::string>> job_environment(const std::string& file,
                                                 const std::vector<std::string>& own);

}  // namespace attune
