#pragma once
// Reading an experiment file: NNI's v2 schema in YAML or JSON, and what attune adds.
// docs/experiment-file.md.
#include <filesystem>
#include <string>

#include "base/json.h"
#include "base/result.h"
#include "manager/experiment/experiment.h"

namespace attune {

// Relative paths in the file are relative to its folder; `working_directory` is the default of
// experimentWorkingDirectory. The error has all that is wrong (manager/experiment/findings.h), each
// with its place, the key, the cure, and for an unknown key the nearest known one. `backend`
// instead of the file's, when not empty.
Result<Experiment> read_experiment_file(const std::filesystem::path& file,
                                        const std::filesystem::path& working_directory,
                                        const std::string& backend = "");

// The same, from a text; `file` is where it stands, for messages and relative paths.
Result<Experiment> read_experiment(const std::string& text, const std::filesystem::path& file,
                                   const std::filesystem::path& working_directory,
                                   const std::string& backend = "");

// The same, of what the store keeps: the document of to_document(). It is JSON, and is read within
// the limits of JSON: those of YAML would refuse a search space that came from a file of its own.
Result<Experiment> read_stored_experiment(const json& document,
                                          const std::filesystem::path& directory);

// Whether `attune resume` will be able to read what is stored of it. Nothing else may be stored:
// the experiment could never go on. The result is its search space, of `search_space`: whoever has
// changed that takes it as `space`.
Result<Space> check_resumable(const Experiment& experiment);

}  // namespace attune
