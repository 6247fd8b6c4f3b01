#pragma once
// What an attempt gets before it starts: its files, its command, its variables.
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "backends/local/local_options.h"
#include "backends/trial_backend.h"
#include "backends/trial_folder.h"
#include "base/result.h"

namespace attune {

struct TrialInputs {
  std::vector<std::string> command;                            // [0] is the path of the shell
  std::vector<std::pair<std::string, std::string>> variables;  // the user's own
};

// Nothing is written before everything is known to be right, except that a disk may be full.
Result<TrialInputs> write_inputs(const LocalBackendOptions& options, const TrialStart& start,
                                 const std::filesystem::path& folder, const TrialFolder& files);

// Of a NewTrialJob payload; null when it has none.
ParameterId parameter_id_of(const std::string& parameter_text);

}  // namespace attune
