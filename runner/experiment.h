#pragma once
// What the user asked for: the experiment file, checked, with every default filled in and every
// path absolute. A value; docs/experiment-file.md says what each key means.
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

#include "base/json.h"

namespace attune {

struct Experiment {
  std::string name;  // may be empty
  json search_space;
  std::string trial_command;
  std::filesystem::path trial_code_directory;
  int trial_concurrency = 1;
  std::optional<int> trial_gpu_number;
  std::optional<std::int64_t> max_trial_number;
  std::optional<double> max_experiment_seconds;
  std::optional<double> max_trial_seconds;
  std::string log_level = "info";
  std::filesystem::path working_directory;  // experiments are folders in it
  std::optional<std::uint64_t> seed;
  json tuner, assessor, advisor;  // {name, classArgs} as given; null when absent
  bool include_intermediate_results = false;
};

// The experiment parameters of the protocol (NNI's v2 schema without the search space), with the
// protocol extensions that this manager understands.
json daemon_parameters(const Experiment& experiment);

}  // namespace attune
