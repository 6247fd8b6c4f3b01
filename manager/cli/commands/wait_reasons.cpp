#include "manager/cli/commands/wait_reasons.h"

#include <algorithm>

#include "manager/cli/commands/shell_words.h"
#include "manager/control/control_client.h"

namespace attune {
namespace {

constexpr double kSeconds = 2;  // a command that only looks must not wait long for a busy manager

}  // namespace

json ask_wait_reasons(const StoredExperiment& experiment) {
  if (experiment.status != ExperimentStatus::running) return json::object();
  const auto answer = ask_manager(experiment.directory, StatusRequest{}, kSeconds);
  const bool told = answer && answer->contains("waiting") && (*answer)["waiting"].is_object();
  return told ? (*answer)["waiting"] : json::object();
}

void fill_wait_reasons(const StoredExperiment& experiment, const json& reasons,
                       std::vector<TrialRecord>& trials) {
  for (TrialRecord& trial : trials) {
    if (trial.status != TrialStatus::pending) continue;
    if (experiment.status != ExperimentStatus::running) {
      if (!trial.reason.empty()) trial.reason += "; ";
      trial.reason += "no manager runs: attune resume " +
                      experiment_words(experiment.directory, experiment.id, true);
    } else if (const auto reason = reasons.find(trial.job_id);
               reason != reasons.end() && reason->is_string()) {
      trial.reason = reason->get<std::string>();
    }
  }
}

void fill_wait_reasons(const StoredExperiment& experiment, std::vector<TrialRecord>& trials) {
  const auto waits = [](const TrialRecord& trial) { return trial.status == TrialStatus::pending; };
  if (std::ranges::any_of(trials, waits))
    fill_wait_reasons(experiment, ask_wait_reasons(experiment), trials);
}

}  // namespace attune
