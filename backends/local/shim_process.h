#pragma once
// Builds the command line of a shim (backends/shim/options.h), and the environment of its trial.
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "backends/local/local_options.h"
#include "backends/trial_backend.h"
#include "os/process.h"

namespace attune {

struct ShimStart {
  const TrialStart& trial;
  std::filesystem::path folder;      // of the trial
  std::filesystem::path checkpoint;  // the directory to restore; empty: none
  std::string gpus;                  // "0,2"; empty: none
  std::vector<std::string> command;  // [0] is the path of a program
  int spool;                         // the descriptor that holds the lock
  std::vector<std::pair<std::string, std::string>> variables;  // the user's own
};

ProcessSpec shim_process(const LocalBackendOptions& options, const ShimStart& start);

}  // namespace attune
