#pragma once
// Reading an experiment file: NNI's v2 schema in YAML or JSON, and `seed`. docs/experiment-file.md.
#include <filesystem>

#include "base/result.h"
#include "runner/experiment.h"

namespace attune {

// Relative paths in the file are relative to its folder; `working_directory` is the default of
// experimentWorkingDirectory. Errors name the file, the line, the key, what is wrong, and for an
// unknown key the nearest known one.
Result<Experiment> read_experiment_file(const std::filesystem::path& file,
                                        const std::filesystem::path& working_directory);

}  // namespace attune
