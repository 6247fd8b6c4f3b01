#pragma once
// What trials inherit on a node of a cluster: the environment of who has started the coordinator,
// and what the batch system says there.
#include <filesystem>
#include <string>
#include <vector>

#include "base/result.h"

namespace attune {

// NAME=VALUE with a byte 0 behind each: the file holds secrets, and is for its user alone.
Result<void> write_environment(const std::filesystem::path& file,
                               const std::vector<std::string>& environment);
// That of the file, except for what is_of_job() (cluster/batch/slurm_commands.h), which is from
// `own`: the rest of `own` is the login environment of the node, if anything. `own` alone when
// `file` is empty.
Result<std::vector<std::string>> job_environment(const std::string& file,
                                                 const std::vector<std::string>& own);

}  // namespace attune
