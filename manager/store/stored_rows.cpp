#include "manager/store/stored_rows.h"

#include <fmt/format.h>

#include "base/objective_json.h"
#include "manager/store/experiment_lock.h"
#include "manager/store/stored_values.h"

namespace attune {
namespace {

ProposedTrial proposal_of(const SqlRow& row, int column) {
  return {parameter_id_of(json_of(row.text(column))), json_of(row.text(column + 1)),
          row.text(column + 2), row.text(column + 3), row.text(column + 4)};
}

ExperimentStatus status_of(const std::string& text, const std::filesystem::path& directory) {
  if (text == "completed") return ExperimentStatus::completed;
  if (text == "interrupted") return ExperimentStatus::interrupted;
  if (text == "failed") return ExperimentStatus::failed;
  return ExperimentLock::is_held(directory) ? ExperimentStatus::running : ExperimentStatus::killed;
}

}  // namespace

json json_of(const std::string& text) { return parse_json(text).value_or(json(nullptr)); }

TrialRecord trial_of(const SqlRow& row) {
  TrialRecord trial;
  trial.job_id = row.text(0);
  trial.sequence = row.integer(1);
  trial.source = trial_source_of(row.text(2)).value_or(TrialSource::algorithm);
  trial.status = trial_status_of(row.text(3)).value_or(TrialStatus::failed);
  trial.reason = row.text(4);
  trial.attempts = static_cast<int>(row.integer(5));
  trial.failures = static_cast<int>(row.integer(6));
  trial.reports = row.integer(7);
  trial.last_metric = json_of(row.text(8));
  trial.final_metric = json_of(row.text(9));
  trial.checkpoint = row.text(10);
  trial.start_time = row.real(11);
  trial.end_time = row.real(12);
  trial.proposed = proposal_of(row, 13);
  return trial;
}

StoredAttempt attempt_of(const SqlRow& row) {
  StoredAttempt attempt;
  attempt.attempt = static_cast<int>(row.integer(0));
  attempt.from_checkpoint = row.text(1);
  attempt.started = row.real(2);
  attempt.ended = row.maybe_real(3);
  attempt.ending = ending_of(row.text(4));
  attempt.detail = row.text(5);
  attempt.cpu_seconds = row.real(6);
  attempt.max_rss = row.real(7);
  attempt.worker = row.text(8);
  attempt.host = row.text(9);
  attempt.ran = row.maybe_real(10);
  attempt.gpus = row.text(11);
  return attempt;
}

StoredReport report_of(const SqlRow& row) {
  return {row.integer(0),      static_cast<int>(row.integer(1)),
          row.text(2),         row.integer(3),
          row.real(4),         static_cast<std::uint64_t>(row.integer(5)),
          row.integer(6) != 0, row.text(7),
          row.maybe_real(8),   row.text(9),
          row.maybe_real(10),  row.integer(11) != 0};
}

StoredExperiment experiment_of(const SqlRow& row) {
  StoredExperiment experiment;
  experiment.number = row.integer(0);
  experiment.id = row.text(1);
  experiment.name = row.text(2);
  experiment.directory = row.text(3);
  experiment.status = status_of(row.text(4), experiment.directory);
  experiment.reason = row.text(5);
  if (experiment.status == ExperimentStatus::killed)
    experiment.reason =
        fmt::format("its manager was killed; attune resume {} goes on", experiment.id);
  experiment.seed = static_cast<std::uint64_t>(row.integer(8));
  experiment.file = json_of(row.text(9));
  experiment.objectives = {{row.text(6), row.integer(7) != 0}};
  if (experiment.file.is_object() && experiment.file.contains("objectives")) {
    json others = experiment.file["objectives"];  // the first is in columns of its own
    if (others.is_array() && !others.empty()) others.erase(others.begin());
    for (Objective& each : objectives_of(others)) experiment.objectives.push_back(std::move(each));
  }
  experiment.runs = static_cast<int>(row.integer(10));
  experiment.manager_pid = row.integer(11);
  experiment.manager_started = row.real(12);
  experiment.started = row.real(13);
  experiment.ended = row.maybe_real(14);
  experiment.seconds = row.real(15) + row.real(16);
  return experiment;
}

StoredCheckpoint checkpoint_of(const SqlRow& row) {
  return {row.text(0),       static_cast<int>(row.integer(1)),
          row.text(2),       row.real(3),
          row.text(4),       row.real(5),
          row.maybe_real(6), row.integer(7),
          row.text(8)};
}

StoredParameter parameter_of(const SqlRow& row) {
  return {row.integer(0), static_cast<int>(row.integer(1)), proposal_of(row, 2)};
}

}  // namespace attune
