#include "manager/cli/commands/wait_reasons.h"

#include <algorithm>

#include "manager/cli/commands/shell_words.h"
#include "manager/control/control_client.h"

namespace attune {
namespace {

constexpr double kSeconds = 2;  // a command that only looks must not wait long for a busy manager

}  // namespace

void fill_wait_reasons(const StoredExperiment& experiment, std::vector<TrialRecord>& trials) {
  const auto waits = [](const TrialRecord& trial) { return trial.status == TrialStatus::pending; };
  if (std::ranges::none_of(trials, waits)) return;
  json reasons = json::object();
  if (experiment.status == ExperimentStatus::running) {
    if (auto answer = ask_manager(experiment.directory, StatusRequest{}, kSeconds))
      reasons = answer->value("waiting", json::object());
  }
  for (TrialRecord& trial : trials) {
    if (!waits(trial)) continue;
    if (experiment.status != ExperimentStatus::running) {
      if (!trial.reason.empty()) trial.reason += "; ";
      trial.reason += "no manager runs: attune resume " +
                      experiment_words(experiment.directory, experiment.id, true);
    } else if (const auto reason = reasons.find(trial.job_id); reason != reasons.end()) {
      trial.reason = reason->get<std::string>();
    }
  }
}

}  // namespace attune
