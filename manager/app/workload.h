#pragma once
// The file of `attune coordinator FILE`: a commander and its roles. docs/workloads.md, "Running a
// workload".
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>

#include "base/result.h"
#include "cluster/batch/slurm_settings.h"
#include "cluster/pool/commander.h"

namespace attune {

// The commander that the file describes; `trials`: a null pointer, as make_commander gives.
// `directory`: of the coordinator, where the roles' worker files and the policies go. Paths in the
// file are relative to it. Errors name the file, the line and the key.
Result<std::unique_ptr<Commander>> read_workload(const std::filesystem::path& file,
                                                 const std::filesystem::path& directory,
                                                 std::uint64_t seed);

// Its key `slurm`: workers are jobs of Slurm, as the tasks need them. Errors as those of
// read_workload; also when there can be no job for a role.
Result<std::optional<SlurmSettings>> read_workload_slurm(const std::filesystem::path& file);

}  // namespace attune
