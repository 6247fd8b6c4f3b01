#pragma once
// Changes to the store for an experiment that no manager runs. The caller holds the experiment's
// lock (ExperimentLock), unless the experiment's folder no longer exists. Each change is made
// completely or not at all.
#include <filesystem>
#include <string>

#include "base/result.h"

namespace attune {

// Changes the name, also in the stored experiment file.
Result<void> rename_experiment(const std::filesystem::path& working_directory,
                               const std::string& id, const std::string& name);
// Removes the experiment and everything about its trials from the store. Touches no other file.
Result<void> forget_experiment(const std::filesystem::path& working_directory,
                               const std::string& id);

}  // namespace attune
