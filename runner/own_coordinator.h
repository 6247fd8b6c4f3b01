#pragma once
// The coordinator that an experiment starts for itself, as a process of its own: it outlives a
// manager that is killed, and the next one finds it.
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "coordinator/operators/slurm_settings.h"
#include "runner/pool_settings.h"

namespace attune {

struct OwnCoordinator {
  std::filesystem::path program;    // attune
  std::filesystem::path directory;  // its own
  PoolSettings settings;
  double worker_cpu = 1;                 // of each worker
  std::optional<SlurmSettings> slurm;    // it gets workers from there
  std::vector<std::string> environment;  // that it and its workers, and so their trials, inherit
};

// Nothing when one runs there. It says its address in its folder a moment later.
Result<void> start_own_coordinator(const OwnCoordinator& own);

}  // namespace attune
