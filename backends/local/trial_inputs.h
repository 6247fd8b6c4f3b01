#pragma once
// Prepares what an attempt gets before it starts: its files, its command, its variables.
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

// Writes the files. All that may be wrong with them is found before the first one is written,
// except a full disk.
Result<TrialInputs> write_inputs(const LocalBackendOptions& options, const TrialStart& start,
                                 const std::filesystem::path& folder, const TrialFolder& files);

// The parameter id in a NewTrialJob payload; null if it has none.
ParameterId parameter_id_of(const std::string& parameter_text);

}  // namespace attune
