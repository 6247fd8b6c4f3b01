#include "runner/restore.h"

#include <algorithm>

#include "protocol/codec.h"
#include "protocol/frame.h"

namespace attune {
namespace {

bool counts(const StoredReport& report) {
  return report.ignored.empty() && !report.late && report.type != "request_parameter";
}

// The criteria that look at results need them all again; the others only need counts.
bool needs_reports(const StopRules& rules) {
  return rules.max_trial_seconds || rules.max_cost || rules.max_evaluations ||
         !rules.max_metric.empty() || !rules.min_metric.empty() || !rules.reach_up.empty() ||
         !rules.reach_down.empty();
}

void replay(TuningStatus& status, const StoredTrial& trial) {
  const std::string& job = trial.trial.job_id;
  double last = trial.trial.start_time;
  for (const StoredReport& report : trial.reports) {
    if (!counts(report)) continue;
    const auto command = decode(Frame{"ME", report.text});
    const auto* metric = command ? std::get_if<ReportMetricData>(&*command) : nullptr;
    if (metric == nullptr) continue;
    status.on_report(job, metrics_of(metric->value), std::max(report.time - last, 0.0));
    last = report.time;
  }
  if (has_ended(trial.trial.status)) status.on_end(job, std::max(trial.trial.end_time - last, 0.0));
}

void count(TrialRunner::Restored& restored, const TrialRecord& trial, const Experiment& experiment,
           const Objective& objective) {
  restored.status.on_started();
  const auto score = trial.score(objective.metric);
  switch (trial.status) {
    case TrialStatus::succeeded:
      ++restored.tally.succeeded;
      restored.status.on_completed();
      if (!score) break;
      ++restored.scored;
      restored.status.on_score(*score, objective.maximize,
                               experiment.stop.plateau ? experiment.stop.plateau->tolerance : 0);
      break;
    case TrialStatus::failed:
      ++restored.tally.failed;
      restored.status.on_failed();
      break;
    case TrialStatus::early_stopped:
      ++restored.tally.early_stopped;
      restored.status.on_stopped();
      break;
    case TrialStatus::user_canceled:
      ++restored.tally.user_canceled;
      restored.status.on_stopped();
      break;
    default:
      break;
  }
}

Result<TrialRunner::Restored::Trial> live_trial(StoreReader& reader, const StoredExperiment& stored,
                                                UnfinishedTrial unfinished) {
  TrialRunner::Restored::Trial trial;
  for (const StoredParameter& parameter : unfinished.parameters)
    trial.ids.push_back(parameter.proposed.parameter_id);
  trial.position = unfinished.position;
  const StoredTrial whole = TRY(reader.whole_trial(stored, unfinished.trial.job_id));
  for (const StoredCheckpoint& checkpoint : whole.checkpoints) {
    if (checkpoint.state == "kept")
      trial.checkpoints.emplace_back(checkpoint.checkpoint, checkpoint.bytes);
  }
  trial.record = std::move(unfinished.trial);
  return trial;
}

}  // namespace

Result<TrialRunner::Restored> restored_state(StoreReader& reader, const StoredExperiment& stored,
                                             const Experiment& experiment) {
  TrialRunner::Restored restored;
  const Objective objective{stored.objective, stored.maximize};
  const bool reports = needs_reports(experiment.stop);
  Result<void> broken;
  TRY(reader.trials(stored, {}, [&](const TrialRecord& trial) {
    count(restored, trial, experiment, objective);
    if (reports && trial.attempts > 0) {
      const auto whole = reader.whole_trial(stored, trial.job_id);
      if (!whole) {
        broken = std::unexpected(whole.error());
        return false;
      }
      replay(restored.status, *whole);
    }
    if (trial.status == TrialStatus::succeeded && !trial.final_metric.is_null()) {
      restored.ended.push_back({trial.proposed.parameters, trial.final_metric, trial.job_id});
    }
    return true;
  }));
  TRY(broken);
  for (ImportData::Record& record : TRY(reader.imports(stored)))
    restored.ended.push_back(std::move(record));
  for (UnfinishedTrial& trial : TRY(reader.unfinished(stored)))
    restored.live.push_back(TRY(live_trial(reader, stored, std::move(trial))));
  restored.next_sequence = TRY(reader.next_sequence(stored));
  restored.seconds = stored.ended ? std::max(*stored.ended - stored.started, 0.0) : 0;
  return restored;
}

Result<std::vector<Again>> to_try_again(StoreReader& reader, const StoredExperiment& stored,
                                        FailureClass failure, RetryHow how) {
  std::vector<Again> again;
  if (how == RetryHow::skip) return again;
  TrialFilter filter;
  filter.statuses = {failure == FailureClass::stopped ? TrialStatus::user_canceled
                                                      : TrialStatus::failed};
  for (const TrialRecord& record : TRY(reader.trials(stored, filter))) {
    const StoredTrial whole = TRY(reader.whole_trial(stored, record.job_id));
    const auto ending = whole.attempts.empty() ? std::nullopt : whole.attempts.back().ending;
    const auto ended_as = ending == Ending::stopped ? std::optional(FailureClass::stopped)
                          : ending                  ? failure_class(*ending)
                                                    : std::nullopt;
    if (ended_as != failure) continue;
    if (how == RetryHow::resume && record.checkpoint.empty()) continue;
    again.push_back(
        {record.proposed.parameters, how == RetryHow::restart ? "" : record.checkpoint});
  }
  return again;
}

}  // namespace attune
