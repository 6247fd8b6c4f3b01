#pragma once
// Reads an experiment file: YAML or JSON in NNI's v2 schema, with the keys that attune adds.
// docs/experiment-file.md describes it.
#include <filesystem>
#include <string>

#include "base/json.h"
#include "base/result.h"
#include "manager/experiment/experiment.h"

namespace attune {

// Relative paths in the file are relative to its folder. `working_directory` is the default of
// experimentWorkingDirectory. `backend` replaces that of the file, unless it is empty. The error
// lists everything that is wrong (manager/experiment/findings.h), each with place, key and cure;
// for an unknown key it names the nearest known one.
Result<Experiment> read_experiment_file(const std::filesystem::path& file,
                                        const std::filesystem::path& working_directory,
                                        const std::string& backend = "");

// The same for a text. `file` is its path, for messages and relative paths.
Result<Experiment> read_experiment(const std::string& text, const std::filesystem::path& file,
                                   const std::filesystem::path& working_directory,
                                   const std::string& backend = "");

// The same for the document of to_document(), as the store keeps it. It is not read as YAML, whose
// limits would refuse a large search space that came from a JSON file.
Result<Experiment> read_stored_experiment(const json& document,
                                          const std::filesystem::path& directory);

// Checks that `attune resume` will be able to read the experiment from the store. Call it before
// something is stored: otherwise the experiment could never be resumed. Returns
// experiment.search_space, parsed; a caller that has changed that assigns the result to
// experiment.space.
Result<Space> check_resumable(const Experiment& experiment);

}  // namespace attune
