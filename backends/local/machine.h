#pragma once
// What this machine has for trials. Linux only.
#include <sys/resource.h>
#include <string>
#include <vector>

#include "backends/local/gpu_rotation.h"
#include "base/result.h"

namespace attune {

// Cores that this process may run on, or the quota of its cgroup if that is less. At least 1,
// unless the quota is less than 1.
double usable_cores();
// Bytes of main memory, or the limit of this process's cgroup if that is less.
double usable_memory();

// The NVIDIA GPUs that may be used. If `environment` ("NAME=value") sets $CUDA_VISIBLE_DEVICES: the
// devices in it, which may be numbers or names (GPU-<uuid>, MIG-<uuid>). Otherwise the numbers of
// all that `program` (nvidia-smi) lists. Blocks for at most ten seconds. To find none is not an
// error; a program that does not answer is.
Result<std::vector<GpuName>> find_gpus(const std::vector<std::string>& environment,
                                       const std::string& program = "nvidia-smi");

// Raises RLIMIT_NOFILE to what the system allows, because the manager needs three descriptors for
// each running trial. Returns the former limit, which trials get: select(), and programs that close
// all descriptors, suffer from a large one.
rlim_t raise_file_limit();

}  // namespace attune
