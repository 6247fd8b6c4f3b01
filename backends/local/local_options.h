#pragma once
// The options of a local backend, which belong to one experiment.
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "backends/command/placeholders.h"
#include "backends/command/template_file.h"
#include "backends/command/trial_command.h"
#include "backends/local/gpu_rotation.h"
#include "backends/report/report_rules.h"
#include "backends/resources.h"

namespace attune {

struct LocalBackendOptions {
  std::string experiment_id;
  std::string command;                   // a shell command
  std::filesystem::path code_directory;  // absolute; where the command runs
  std::vector<std::string> environment;  // "NAME=value": the environment that trials inherit
  std::filesystem::path shim;            // absolute; the program attune-shim
  TrialArguments arguments = TrialArguments::none;

  // The parameters that `command`, the variables and the templates may name; see
  // backends/command/placeholders.h.
  ParameterNames parameter_names;
  // Environment variables of the trials; their values may have placeholders.
  std::vector<std::pair<std::string, std::string>> variables;
  std::vector<TemplateFile> templates;
  bool run_in_trial_folder = false;  // instead of code_directory
  ReportRules report;
  bool in_step = false;  // reports wait for their decisions (TrialFolder::answer())

  GpuUse gpus = GpuUse::inherit;
  std::vector<int> gpu_indices;  // devices that may be assigned; empty: all that are found
  // Set if several backends of a machine share its GPUs: used instead of what is found. Empty: the
  // backend has its own.
  std::shared_ptr<GpuRotation> shared_gpus;
  int trials_per_gpu = 1;                 // maxTrialNumberPerGpu
  std::string gpu_lister = "nvidia-smi";  // see find_gpus()
  std::map<std::string, double> custom;   // capacity of the user's own kinds

  std::chrono::milliseconds stop_grace{5000};    // between SIGTERM and SIGKILL
  std::chrono::milliseconds kill_grace{10'000};  // of kill_all(), until the shims are killed too
  std::uint64_t output_limit = 64 << 20;         // bytes of stdout, and of stderr, for each attempt
  std::uint64_t file_limit = 0;                  // soft RLIMIT_NOFILE of trials; 0: unchanged
  std::filesystem::path memory_events;           // for tests: instead of our cgroup's
};

}  // namespace attune
