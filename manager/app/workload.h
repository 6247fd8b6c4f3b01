#pragma once
// Reads the workload file of `attune coordinator FILE`: a commander and its roles.
// docs/workloads.md, "Running a workload".
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>

#include "base/result.h"
#include "cluster/batch/slurm_settings.h"
#include "cluster/pool/commander.h"

namespace attune {

// Makes the commander that the file describes; a null pointer for the commander `trials`.
// `directory`: of the coordinator; the worker files of the roles and the policies go there. Paths
// in the file are relative to the folder of the file. Errors name the file, the line and the key.
Result<std::unique_ptr<Commander>> read_workload(const std::filesystem::path& file,
                                                 const std::filesystem::path& directory,
                                                 std::uint64_t seed);

// Reads the key `slurm` of the file: workers are then jobs of Slurm. Nothing: no such key. Errors
// as for read_workload(), and when no job can satisfy the needs of a role.
Result<std::optional<SlurmSettings>> read_workload_slurm(const std::filesystem::path& file);

}  // namespace attune
