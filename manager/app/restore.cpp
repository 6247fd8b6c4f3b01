#include "manager/app/restore.h"

#include <algorithm>
#include <set>
#include <utility>

#include "base/names.h"
#include "protocol/codec.h"
#include "protocol/frame.h"

namespace attune {
namespace {

// Whether a result counts. `late` does not matter: a late FINAL of a trial that the user has
// stopped may count.
bool counts(const StoredReport& report) {
  return report.type != "request_parameter" && report.counts;
}

// Whether a criterion looks at results or at the time between them, so that all reports must be
// read again. The other criteria need only the counts of trials.
bool needs_reports(const StopRules& rules) {
  return rules.max_trial_seconds || rules.max_cost || rules.max_evaluations ||
         !rules.max_metric.empty() || !rules.min_metric.empty() || !rules.reach_up.empty() ||
         !rules.reach_down.empty();
}

std::optional<ReportMetricData> metric_of(const StoredReport& report) {
  const auto command = decode(Frame{"ME", report.text});
  const auto* metric = command ? std::get_if<ReportMetricData>(&*command) : nullptr;
  return metric == nullptr ? std::nullopt : std::optional(*metric);
}

bool asks_for_more(const StoredReport& report) {
  return report.type == "request_parameter" && report.counts;
}

// Counts the reports of a trial in `status` as the runner has counted them: an intermediate result
// at once, a FINAL when its attempt had ended well or had asked for the next configuration.
void replay(TuningStatus& status, const StoredTrial& trial, const std::string& objective) {
  const std::string& job = trial.trial.job_id;
  auto report = trial.reports.begin();
  for (const StoredAttempt& attempt : trial.attempts) {
    AttemptTime time{.ran = 0, .last = attempt.started};
    std::vector<const StoredReport*> held;
    const auto count = [&](const StoredReport& counted) {
      const auto metric = metric_of(counted);
      if (!metric) return;
      const Metrics metrics = metrics_of(metric->value, objective);
      const auto said = std::ranges::find(metrics, "time_this_iter_s", &Metrics::value_type::first);
      const double since = time.advance(counted.time, counted.ran);
      status.on_report(job, metrics, said != metrics.end() ? said->second : since);
    };
    const auto count_held = [&] {
      for (const StoredReport* each : std::exchange(held, {})) count(*each);
    };
    for (; report != trial.reports.end() && report->attempt <= attempt.attempt; ++report) {
      if (asks_for_more(*report)) count_held();
      if (!counts(*report)) continue;
      if (report->type == "final") {
        held.push_back(&*report);
      } else {
        count(*report);
      }
    }
    if (attempt.ending == Ending::succeeded || attempt.ending == Ending::stopped) count_held();
    if (attempt.ended) status.on_attempt_end(time.advance(*attempt.ended, attempt.ran));
  }
  if (has_ended(trial.trial.status)) status.on_end(job);
}

void count(RestoredExperiment& restored, const TrialRecord& trial, const Experiment& experiment,
           const std::vector<Objective>& objectives) {
  restored.status.on_started();
  const auto standing = standing_of(trial.final_metric, objectives);
  switch (trial.status) {
    case TrialStatus::succeeded:
      ++restored.tally.succeeded;
      restored.status.on_completed();
      if (!standing) break;
      ++restored.scored;
      restored.status.on_score(*standing, objectives.front().maximize, experiment.stop);
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

// The end that the running attempt was asked for; nothing: none. The newest decision holds, since
// only an end may follow a pause. An interrupt of the experiment is no decision about the trial.
std::optional<EndAsked> asked_of(const StoredTrial& whole, const StoredAttempt& attempt) {
  for (auto decision = whole.decisions.rbegin(); decision != whole.decisions.rend(); ++decision) {
    // Earlier versions did not store the attempt of a decision; then the time must do.
    const bool before =
        decision->attempt ? *decision->attempt < attempt.attempt : decision->time < attempt.started;
    if (before) break;
    if (decision->ends && *decision->ends != EndAsked::Kind::interrupt)
      return EndAsked{*decision->ends, decision->reason};
  }
  return std::nullopt;
}

const StoredCheckpoint* find_checkpoint(const StoredTrial& whole, const std::string& id) {
  const auto found = std::ranges::find(whole.checkpoints, id, &StoredCheckpoint::checkpoint);
  return found == whole.checkpoints.end() ? nullptr : &*found;
}

// As LiveTrial::start_from. `newest`: the newest checkpoint of its own, if it has one.
std::string start_of(const TrialRecord& record, const std::optional<StoredAttempt>& last,
                     const StoredCheckpoint* newest) {
  if (!last) return record.proposed.checkpoint_from;
  // The next attempt is stored already, but its start has failed.
  if (last->attempt >= record.attempts) return last->from_checkpoint;
  // When the decider resumes a paused trial, it may choose another checkpoint.
  const bool resumed = last->ending == Ending::paused && !record.proposed.resume_job.empty();
  if (resumed && !record.proposed.checkpoint_from.empty()) return record.proposed.checkpoint_from;
  const bool has_saved = newest != nullptr && newest->attempt >= last->attempt;
  if (record.status == TrialStatus::running) return has_saved ? "" : last->from_checkpoint;
  return has_saved || last->from_checkpoint.empty() ? record.checkpoint : last->from_checkpoint;
}

// Restores from the FINAL reports what the running attempt holds (finals), and which configurations
// have been told (told). `runs`: the trial is running.
void add_results(RestoredExperiment::Trial& trial, const StoredTrial& whole, bool runs) {
  int attempt = -1;
  for (const StoredReport& report : whole.reports) {
    if (report.attempt != attempt) trial.finals.clear();
    attempt = report.attempt;
    if (asks_for_more(report)) {
      for (const HeldResult& held : std::exchange(trial.finals, {}))
        trial.told.push_back(held.parameter_id);
    }
    if (report.type != "final" || !counts(report)) continue;
    if (auto metric = metric_of(report))
      trial.finals.push_back(
          {metric->parameter_id, report.text, std::move(metric->value), report.time, report.ran});
  }
  if (!runs || attempt != trial.record.attempts - 1) trial.finals.clear();
  // An earlier version stored a final metric before its attempt had ended. It does not count yet.
  const bool complete = trial.asked && trial.asked->kind == EndAsked::Kind::complete;
  if (trial.told.empty() && !complete) trial.record.final_metric = nullptr;
}

// Restores the steps of the trial, as the runner has counted them, and the time of its last
// attempt.
void add_steps(RestoredExperiment::Trial& trial, const StoredTrial& whole,
               const std::string& objective, const std::string& fidelity) {
  std::vector<ParameterId> ids = trial.ids;
  ids.push_back(trial.record.proposed.parameter_id);
  auto report = whole.reports.begin();
  for (const StoredAttempt& attempt : whole.attempts) {
    const StoredCheckpoint* from = find_checkpoint(whole, attempt.from_checkpoint);
    trial.steps.begin(from == nullptr ? std::nullopt : std::optional(from->reports));
    trial.time = {.ran = 0, .last = attempt.started};
    for (; report != whole.reports.end() && report->attempt <= attempt.attempt; ++report) {
      if (report->type != "periodical") continue;
      const auto metric = metric_of(*report);
      if (!metric || std::ranges::find(ids, metric->parameter_id) == ids.end()) continue;
      const std::int64_t step = trial.steps.next(
          metric->sequence, iteration_of(metrics_of(metric->value, objective), fidelity));
      if (!counts(*report) || report->late) continue;
      trial.steps.told(step);
      trial.time.advance(report->time, report->ran);
    }
  }
}

// `knows_saving`: RunnerState says which checkpoints were being saved.
RestoredExperiment::Trial live_trial(UnfinishedTrial unfinished, const StoredTrial& whole,
                                     bool knows_saving, const std::string& objective,
                                     const std::string& fidelity) {
  RestoredExperiment::Trial trial;
  for (const StoredParameter& parameter : whole.parameters)
    trial.ids.push_back(parameter.proposed.parameter_id);
  for (const StoredCheckpoint& checkpoint : whole.checkpoints)
    trial.checkpoints.push_back(checkpoint.checkpoint);
  trial.position = unfinished.position;
  trial.record = std::move(unfinished.trial);
  const TrialRecord& record = trial.record;
  const bool runs = record.status == TrialStatus::running;
  const StoredCheckpoint* newest = find_checkpoint(whole, record.checkpoint);
  if (newest != nullptr) trial.steps_saved = newest->reports;
  trial.start_from = start_of(record, unfinished.attempt, newest);
  if (!unfinished.attempt) return trial;
  const StoredAttempt& attempt = *unfinished.attempt;
  // Without a RunnerState: the manager may have been killed after the attempt was paused or
  // stopped, and before its files became a checkpoint.
  const bool stopped = attempt.ending == Ending::paused || attempt.ending == Ending::stopped;
  trial.save_first =
      !knows_saving && !runs && stopped && (newest == nullptr || newest->attempt < attempt.attempt);
  if (runs) trial.asked = asked_of(whole, attempt);
  add_results(trial, whole, runs);
  add_steps(trial, whole, objective, fidelity);
  return trial;
}

// Checks the names from the store, because folders are named after them.
Result<void> check_names(const RestoredExperiment& restored) {
  const auto checkpoint = [](const std::string& id) {
    return id.empty() ? Result<void>() : check_name("the checkpoint", id);
  };
  for (const RestoredExperiment::Trial& trial : restored.live) {
    TRY(check_name("the trial", trial.record.job_id));
    TRY(checkpoint(trial.start_from));
    TRY(checkpoint(trial.record.checkpoint));
  }
  for (const RestoredExperiment::Checkpoint& kept : restored.checkpoints) TRY(checkpoint(kept.id));
  if (!restored.state) return {};
  for (const std::string& id : restored.state->saving) TRY(checkpoint(id));
  for (const std::string& id : restored.state->deleting) TRY(checkpoint(id));
  for (const std::string& job_id : restored.state->releasing) TRY(check_name("the trial", job_id));
  return {};
}

}  // namespace

Result<RestoredExperiment> restored_state(StoreReader& reader, const StoredExperiment& stored,
                                          const Experiment& experiment,
                                          std::optional<RunnerState> state) {
  RestoredExperiment restored;
  const bool reports = needs_reports(experiment.stop);
  Result<void> broken;
  TRY(reader.trials(stored, {}, [&](const TrialRecord& trial) {
    count(restored, trial, experiment, stored.objectives);
    if (reports && trial.attempts > 0) {
      const auto whole = reader.whole_trial(stored, trial.job_id);
      if (!whole) {
        broken = std::unexpected(whole.error());
        return false;
      }
      replay(restored.status, *whole, stored.objective().metric);
    }
    return true;
  }));
  TRY(broken);
  restored.ended = TRY(ended_results(reader, stored));
  std::set<std::string> live, kept_ids;
  for (UnfinishedTrial& trial : TRY(reader.unfinished(stored))) {
    live.insert(trial.trial.job_id);
    const StoredTrial whole = TRY(reader.whole_trial(stored, trial.trial.job_id));
    restored.live.push_back(live_trial(std::move(trial), whole, state.has_value(),
                                       stored.objective().metric,
                                       experiment.fidelity ? experiment.fidelity->metric : ""));
  }
  for (const StoredCheckpoint& kept : TRY(reader.kept_checkpoints(stored))) {
    const bool ended = !live.contains(kept.job_id);
    restored.checkpoints.push_back({kept.job_id, kept.checkpoint, kept.bytes, ended});
    kept_ids.insert(kept.checkpoint);
  }
  // An earlier version kept what an attempt had started from only until its first report.
  for (RestoredExperiment::Trial& trial : restored.live) {
    const TrialRecord& record = trial.record;
    const bool may_be_gone = record.attempts > 0 && !trial.start_from.empty();
    if (!may_be_gone || kept_ids.contains(trial.start_from)) continue;
    trial.start_from = record.status == TrialStatus::running ? "" : record.checkpoint;
  }
  restored.next_sequence = TRY(reader.next_sequence(stored));
  restored.seconds = stored.seconds;
  restored.state = std::move(state);
  TRY(check_names(restored));
  return restored;
}

Result<std::vector<ImportData::Record>> ended_results(StoreReader& reader,
                                                      const StoredExperiment& stored) {
  std::vector<ImportData::Record> results;
  TrialFilter succeeded;
  succeeded.statuses = {TrialStatus::succeeded};
  TRY(reader.trials(stored, succeeded, [&](const TrialRecord& trial) {
    if (!trial.final_metric.is_null())
      results.push_back({trial.proposed.parameters, trial.final_metric, trial.job_id});
    return true;
  }));
  for (ImportData::Record& record : TRY(reader.imports(stored)))
    results.push_back(std::move(record));
  return results;
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
    // A trial is tried again only once: if the command is given again after a kill, it must not add
    // all trials a second time.
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
