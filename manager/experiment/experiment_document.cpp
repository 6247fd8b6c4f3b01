// The forms of an experiment for the daemon and for the store.
#include <fmt/format.h>

#include "base/objective_json.h"
#include "manager/experiment/experiment.h"
#include "manager/experiment/experiment_trial.h"

namespace attune {

Finding finding_of(const Experiment& experiment, const std::string& key, std::string message) {
  const YamlDocument document{{}, experiment.marks};
  return {experiment.file, key, document.mark(key), std::move(message)};
}

bool may_be_in_step(const Experiment& experiment) {
  return experiment.backend != "simulated" &&
         experiment.program.report.how == ReportRules::How::metrics_file;
}

json daemon_parameters(const Experiment& experiment) {
  json parameters = {{"experimentName", experiment.name},
                     {"trialCommand", experiment.program.command},
                     {"trialCodeDirectory", experiment.program.code_directory.string()},
                     {"trialConcurrency", experiment.trial_concurrency},
                     {"logLevel", experiment.log_level},
                     {"experimentWorkingDirectory", experiment.working_directory.string()},
                     {"trainingService", {{"platform", "local"}}},
                     {"capabilities", {"sync", "pause", "checkpoint", "reason", "error"}}};
  if (experiment.max_trial_number) parameters["maxTrialNumber"] = *experiment.max_trial_number;
  if (experiment.max_experiment_seconds) {
    parameters["maxExperimentDuration"] = fmt::format("{}s", *experiment.max_experiment_seconds);
  }
  if (experiment.max_trial_seconds) {
    parameters["maxTrialDuration"] = fmt::format("{}s", *experiment.max_trial_seconds);
  }
  if (!experiment.objectives.empty()) parameters["objectives"] = to_json(experiment.objectives);
  if (!experiment.constraints.empty()) parameters["constraints"] = experiment.constraints;
  if (const auto& fidelity = experiment.fidelity) {
    parameters["fidelity"] = {{"metric", fidelity->metric}, {"max", fidelity->max}};
  }
  if (!experiment.plugins.empty()) parameters["plugins"] = experiment.plugins;
  if (!experiment.tuner.is_null()) parameters["tuner"] = experiment.tuner;
  if (!experiment.assessor.is_null()) parameters["assessor"] = experiment.assessor;
  if (!experiment.advisor.is_null()) parameters["advisor"] = experiment.advisor;
  return parameters;
}

json to_document(const Experiment& experiment) {
  json document = experiment.document;
  const auto set = [&](const char* key, const auto& value) {
    if (value) document[key] = *value;
  };
  document.erase("searchSpaceFile");
  document["searchSpace"] = experiment.search_space;
  document["trialCodeDirectory"] = experiment.program.code_directory.string();
  document["experimentWorkingDirectory"] = experiment.working_directory.string();
  document["trialConcurrency"] = experiment.trial_concurrency;
  set("maxTrialNumber", experiment.max_trial_number);
  set("maxExperimentDuration", experiment.max_experiment_seconds);
  set("maxTrialDuration", experiment.max_trial_seconds);
  if (experiment.backend != "local") document["backend"] = experiment.backend;
  document.erase("seed");  // settle_seed() has put it into the tuner's classArgs
  if (!experiment.plugins.empty()) document["plugins"] = experiment.plugins;
  if (!experiment.tuner.is_null()) document["tuner"] = experiment.tuner;
  if (!experiment.assessor.is_null()) document["assessor"] = experiment.assessor;
  if (!experiment.advisor.is_null()) document["advisor"] = experiment.advisor;
  document.erase("learnFrom");  // preparation takes it away where it has no effect
  if (!experiment.learn_from.empty()) document["learnFrom"] = experiment.learn_from;
  if (experiment.program.in_step) document[kDecisions] = "in-step";
  if (!experiment.pool.coordinator.empty())
    document["pool"]["coordinator"] = experiment.pool.coordinator;
  store_templates(experiment.program, document);
  return document;
}

}  // namespace attune
