#pragma once
// A program that backends run, whoever wants it: the trials of an experiment, or the tasks of one
// role of a workload.
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
  std::filesystem::path code_directory;  // absolute; where it runs
  TrialArguments arguments = TrialArguments::none;
  std::vector<std::string> parameter_names;                      // what placeholders may refer to
  std::vector<std::pair<std::string, std::string>> environment;  // with placeholders
  std::vector<TemplateFile> templates;
  bool in_trial_folder = false;  // it runs there instead
  ReportRules report;
  GpuUse gpus = GpuUse::inherit;
  int trials_per_gpu = 1;
  std::uint64_t output_limit = 64'000'000;  // bytes of each of stdout and stderr
};

// The same again, by way of JSON. The errors name the key.
json to_json(const TaskProgram& program);
Result<TaskProgram> parse_task_program(const json& object);

}  // namespace attune
