#include "runner/restore.h"

#include <algorithm>
#include <set>

#include "protocol/codec.h"
#include "protocol/frame.h"

namespace attune {
namespace {

// A value that is no number is told to the decider, too.
bool counts(const StoredReport& report) {
  return !report.late && report.type != "request_parameter" &&
         (report.ignored.empty() || report.ignored.starts_with("it has no finite"));
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
  if (!has_ended(trial.trial.status)) return;
  status.on_attempt_end(std::max(trial.trial.end_time - last, 0.0));
  status.on_end(job);
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

// What was decided about the attempt that runs. That the experiment ended is no decision about it.
std::optional<EndAsked> asked_of(const StoredTrial& whole, double since) {
  using Kind = EndAsked::Kind;
  for (auto decision = whole.decisions.rbegin(); decision != whole.decisions.rend(); ++decision) {
    if (decision->time < since) break;
    if (decision->action == "pause") return EndAsked{Kind::pause, decision->reason};
    if (decision->action != "stop") continue;
    if (decision->by == "user") return EndAsked{Kind::by_user, decision->reason};
    if (decision->by != "runner") return EndAsked{Kind::early_stop, decision->reason};
    if (!whole.trial.final_metric.is_null()) return EndAsked{Kind::complete, decision->reason};
    break;
  }
  return std::nullopt;
}

const StoredCheckpoint* find_checkpoint(const StoredTrial& whole, const std::string& id) {
  const auto found = std::ranges::find(whole.checkpoints, id, &StoredCheckpoint::checkpoint);
  return found == whole.checkpoints.end() ? nullptr : &*found;
}

TrialRunner::Restored::Trial live_trial(UnfinishedTrial unfinished, const StoredTrial& whole) {
  TrialRunner::Restored::Trial trial;
  for (const StoredParameter& parameter : unfinished.parameters)
    trial.ids.push_back(parameter.proposed.parameter_id);
  trial.position = unfinished.position;
  trial.record = std::move(unfinished.trial);
  const TrialRecord& record = trial.record;
  const bool runs = record.status == TrialStatus::running;
  const StoredCheckpoint* newest = find_checkpoint(whole, record.checkpoint);
  if (newest != nullptr) trial.reports_saved = newest->reports;
  if (!unfinished.attempt) {
    trial.start_from = record.proposed.checkpoint_from;
    return trial;
  }
  const StoredAttempt& attempt = *unfinished.attempt;
  trial.start_from = runs ? attempt.from_checkpoint : record.checkpoint;
  // Killed between the end of its last attempt and the save that comes with it.
  const bool stopped = attempt.ending == Ending::paused || attempt.ending == Ending::stopped;
  trial.save_first = !runs && stopped && (newest == nullptr || newest->attempt < attempt.attempt);
  if (!runs) return trial;
  trial.asked = asked_of(whole, attempt.started);
  if (const StoredCheckpoint* from = find_checkpoint(whole, attempt.from_checkpoint))
    trial.reports_before = from->reports;
  for (const StoredReport& report : whole.reports) {
    if (report.attempt != attempt.attempt || !counts(report)) continue;
    if (report.type == "periodical") ++trial.attempt_reports;
    if (report.type == "final") trial.final_text = report.text;
  }
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
  std::set<std::string> live;
  for (UnfinishedTrial& trial : TRY(reader.unfinished(stored))) {
    live.insert(trial.trial.job_id);
    const StoredTrial whole = TRY(reader.whole_trial(stored, trial.trial.job_id));
    restored.live.push_back(live_trial(std::move(trial), whole));
  }
  for (const StoredCheckpoint& kept : TRY(reader.kept_checkpoints(stored))) {
    const bool ended = !live.contains(kept.job_id);
    restored.checkpoints.push_back({kept.job_id, kept.checkpoint, kept.bytes, ended});
  }
  restored.next_sequence = TRY(reader.next_sequence(stored));
  restored.seconds = stored.seconds;
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
    const auto ended_as = ending ? failure_class(*ending) : std::nullopt;
    if (ended_as != failure) continue;
    // Once each: the same command again, after a kill, must not try everything twice.
    if (std::ranges::find(whole.decisions, "retry", &StoredDecision::action) !=
        whole.decisions.end())
      continue;
    const StoredCheckpoint* newest = find_checkpoint(whole, record.checkpoint);
    const bool kept = newest != nullptr && newest->state == "kept" && how != RetryHow::restart;
    if (how == RetryHow::resume && !kept) continue;
    again.push_back({record.job_id, record.proposed.parameters, kept ? record.checkpoint : ""});
  }
  return again;
}

}  // namespace attune
