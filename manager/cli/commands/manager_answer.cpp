#include "manager/cli/commands/manager_answer.h"

#include <fmt/format.h>

#include <filesystem>

#include "manager/cli/commands/shell_words.h"

namespace attune {

std::expected<json, ControlError> manager_answer(const StoredExperiment& experiment,
                                                 const ControlRequest& request,
                                                 const std::string& options) {
  auto answer = ask_manager(experiment.directory, request);
  if (answer) return answer;
  ControlError error = std::move(answer).error();
  std::error_code ignored;
  const bool deaf = !std::filesystem::exists(experiment.directory / "control", ignored);
  if (error.no_manager) {
    error.message = fmt::format(
        "experiment {} is {}: no manager runs; attune resume {}{} starts one{}", experiment.id,
        to_text(experiment.status), experiment_words(experiment.directory, experiment.id, true),
        options, options.empty() ? "" : " with that");
  } else if (deaf && experiment.status == ExperimentStatus::running) {
    error.message +=
        fmt::format("; or somebody has removed {}: kill -TERM {} ends the manager orderly",
                    (experiment.directory / "control").string(), experiment.manager_pid);
  }
  return std::unexpected(std::move(error));
}

std::string resume_options(const UpdateRequest& request) {
  std::string text;
  if (request.max_trials) text += fmt::format(" --max-trials {}", *request.max_trials);
  if (request.concurrency) text += fmt::format(" --concurrency {}", *request.concurrency);
  if (request.max_seconds) text += fmt::format(" --duration {}", *request.max_seconds);
  return text;
}

}  // namespace attune
