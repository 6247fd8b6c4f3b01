#pragma once
// What changes the store for an experiment that no manager runs: whoever calls holds its lock, or
// its folder is gone.
#include <filesystem>
#include <string>

#include "base/result.h"

namespace attune {

// Also in the experiment file that is stored.
Result<void> rename_experiment(const std::filesystem::path& working_directory,
                               const std::string& id, const std::string& name);
// With everything that is known of its trials.
Result<void> forget_experiment(const std::filesystem::path& working_directory,
                               const std::string& id);

}  // namespace attune
