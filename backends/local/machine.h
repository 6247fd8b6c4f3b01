#pragma once
// What this machine has for trials, and what we take of it. Linux only.
#include <sys/resource.h>
#include <string>
#include <vector>

#include "backends/local/gpu_rotation.h"
#include "base/result.h"

namespace attune {

// Cores that we may run on, fewer where our cgroup has a quota; at least 1 unless the quota is
// less.
double usable_cores();
// Bytes of main memory, or the limit of our cgroup where that is less.
double usable_memory();

// The NVIDIA GPUs that we may use: those of $CUDA_VISIBLE_DEVICES in `environment` ("NAME=value"),
// which may be numbers or names (GPU-<uuid>, MIG-<uuid>), where it is set; else the numbers of all
// that `program` (nvidia-smi) lists. Blocks, for at most ten seconds. None is not an error; a
// program that does not answer is.
Result<std::vector<GpuName>> find_gpus(const std::vector<std::string>& environment,
                                       const std::string& program = "nvidia-smi");

// The manager needs three descriptors for each trial that runs: raises RLIMIT_NOFILE to what the
// system allows. Returns the limit that there was, which trials get: select() and programs that
// close all descriptors suffer from a large one.
rlim_t raise_file_limit();

}  // namespace attune
