#include "backends/local/shim_process.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include "backends/report/spool.h"

namespace attune {
namespace {

// Variables that trials must not inherit. NNI's library reads the first three in a trial, where
// they mean a trial of another manager: metrics go to standard output, a second configuration is
// requested, or the library refuses to run as a trial at all. Users who want multi-phase set
// MULTI_PHASE in `environment`. ATTUNE_TASK_KEY is the key of a task in which this process itself
// may run; nobody else may have it.
constexpr std::array<std::string_view, 4> kOfOtherManagers = {"REUSE_MODE", "MULTI_PHASE",
                                                              "SDK_PROCESS", "ATTUNE_TASK_KEY"};

std::vector<std::string> inherited(const LocalBackendOptions& options) {
  std::vector<std::string> variables = options.environment;
  std::erase_if(variables, [](const std::string& variable) {
    const std::string_view name = std::string_view(variable).substr(0, variable.find('='));
    return std::ranges::find(kOfOtherManagers, name) != kOfOtherManagers.end();
  });
  return variables;
}

std::vector<std::string> environment(const LocalBackendOptions& options, const ShimStart& start) {
  const std::string directory = start.folder.string();
  std::vector<std::pair<std::string, std::string>> variables = {
      {"NNI_PLATFORM", "local"},
      {"NNI_EXP_ID", options.experiment_id},
      {"NNI_TRIAL_JOB_ID", start.trial.job_id},
      {"NNI_TRIAL_SEQ_ID", std::to_string(start.trial.sequence)},
      {"NNI_CODE_DIR", options.code_directory.string()},
      {"NNI_SYS_DIR", directory},
      {"NNI_OUTPUT_DIR", directory},
      {"ATTUNE_CHECKPOINT_DIR", directory + "/checkpoint"},
      {"ATTUNE_ATTEMPT", std::to_string(start.trial.attempt)}};
  if (!start.trial.key.empty()) variables.emplace_back("ATTUNE_TASK_KEY", start.trial.key);
  if (options.gpus != GpuUse::inherit) {
    variables.emplace_back("CUDA_VISIBLE_DEVICES", start.gpus.empty() ? "-1" : start.gpus);
  }
  // The user's variables come first, so that they cannot replace these.
  variables.insert(variables.begin(), start.variables.begin(), start.variables.end());
  return child_environment(inherited(options), variables);
}

}  // namespace

ProcessSpec shim_process(const LocalBackendOptions& options, const ShimStart& start) {
  ProcessSpec spec;
  spec.arguments = {options.shim.string()};
  const auto add = [&](const char* name, const std::string& value) {
    if (!value.empty()) spec.arguments.insert(spec.arguments.end(), {name, value});
  };
  add("--folder", start.folder.string());
  add("--output-limit", std::to_string(options.output_limit));
  add("--grace-ms", std::to_string(options.stop_grace.count()));
  add("--files", std::to_string(options.file_limit));
  add("--gpus", start.gpus);
  add("--restore", start.checkpoint.string());
  add("--keep-checkpoint", start.trial.keep_checkpoint && start.checkpoint.empty() ? "1" : "");
  add("--memory-events", options.memory_events.string());
  for (const LinePattern& pattern : options.report.patterns) {
    add(pattern.stream == OutputStream::out   ? "--regex-out"
        : pattern.stream == OutputStream::err ? "--regex-err"
                                              : "--regex-both",
        pattern.regex);
  }
  if (options.report.how == ReportRules::How::tune_metric) add("--tune-metric", "1");
  spec.arguments.emplace_back("--");
  spec.arguments.insert(spec.arguments.end(), start.command.begin(), start.command.end());
  spec.environment = environment(options, start);
  spec.directory = options.run_in_trial_folder ? start.folder : options.code_directory;
  spec.descriptors = {{spool::kDescriptor, start.spool}};
  spec.detached = true;
  return spec;
}

}  // namespace attune
