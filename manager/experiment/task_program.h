#pragma once
// The program of the trials of an experiment, or of the tasks of a role of a workload: everything
// that a backend needs to run it.
#include <cstdint>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "backends/command/template_file.h"
#include "backends/command/trial_command.h"
#include "backends/report/report_rules.h"
#include "backends/resources.h"
#include "base/json.h"
#include "base/result.h"

namespace attune {

struct TaskProgram {
  std::string command;                   // a shell command, with placeholders
  std::filesystem::path code_directory;  // absolute; the program runs in it
  TrialArguments arguments = TrialArguments::none;
  std::vector<std::string> parameter_names;  // placeholder_names(): what placeholders may name
  std::vector<std::pair<std::string, std::string>> environment;  // values with placeholders
  std::vector<TemplateFile> templates;
  bool in_trial_folder = false;  // it runs in the folder of the trial, not in code_directory
  ReportRules report;
  bool in_step = false;  // a report returns when it is decided: LocalBackendOptions::in_step
  GpuUse gpus = GpuUse::inherit;
  int trials_per_gpu = 1;
  std::uint64_t output_limit = 64'000'000;  // bytes of each of stdout and stderr
};

// To JSON, and back to an equal TaskProgram. Errors name the key.
json to_json(const TaskProgram& program);
Result<TaskProgram> parse_task_program(const json& object);

}  // namespace attune
