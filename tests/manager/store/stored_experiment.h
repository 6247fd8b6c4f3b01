#pragma once
// Makes what tests put into a store.
#include <sys/wait.h>

#include <filesystem>
#include <string>
#include <vector>

#include "base/check.h"
#include "manager/store/store.h"

namespace attune {

inline Store begin_experiment(const std::filesystem::path& folder, const std::string& id,
                              const std::string& name = "",
                              const json& file = {{"trialCommand", "true"}}) {
  std::filesystem::create_directories(folder / id);
  Store store = Store::open(folder).value();
  NewExperiment experiment;
  experiment.id = id;
  experiment.name = name;
  experiment.directory = folder / id;
  experiment.objective = "accuracy";
  experiment.maximize = true;
  experiment.seed = 0xfedcba9876543210;
  experiment.file = file;
  ATTUNE_CHECK(store.begin(experiment, 1000).has_value());
  return store;
}

// Waits for all of these processes; whether each has exited with 0.
inline bool all_end_well(const std::vector<pid_t>& children) {
  bool well = true;
  for (const pid_t child : children) {
    int status = 1;
    ::waitpid(child, &status, 0);
    well = well && status == 0;
  }
  return well;
}

inline TrialRecord pending_trial(std::int64_t sequence) {
  TrialRecord trial;
  trial.job_id = job_id_of(sequence);
  trial.sequence = sequence;
  trial.proposed = {sequence, {{"x", 0.5}}, "text " + std::to_string(sequence)};
  return trial;
}

inline std::string report_text(std::int64_t sequence) {
  return R"({"type": "PERIODICAL", "sequence": )" + std::to_string(sequence) + "}";
}

inline TrialReport report_of(const TrialRecord& trial, std::int64_t sequence, const json& value,
                             std::uint64_t position) {
  TrialReport report;
  report.job_id = trial.job_id;
  report.text = report_text(sequence);
  report.metric.type = ReportMetricData::Type::periodical;
  report.metric.trial_job_id = trial.job_id;
  report.metric.sequence = sequence;
  report.metric.value = value;
  report.time = 1003;
  report.position = position;
  return report;
}

}  // namespace attune
