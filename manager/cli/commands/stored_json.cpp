#include "manager/cli/commands/stored_json.h"

#include "base/objective_json.h"
#include "manager/cli/commands/best_text.h"
#include "manager/store/stored_values.h"
#include "protocol/codec.h"

namespace attune {
namespace {

json time_json(double time) { return time == 0 ? json() : json(time); }

template <class T>
json maybe(const std::optional<T>& value) {
  return value ? json(*value) : json();
}

template <class Rows, class Make>
json array_of(const Rows& rows, const Make& make) {
  json array = json::array();
  for (const auto& row : rows) array.push_back(make(row));
  return array;
}

}  // namespace

json trial_json(const TrialRecord& trial, const std::vector<Objective>& objectives) {
  json object = {{"trial_job_id", trial.job_id},
                 {"sequence", trial.sequence},
                 {"source", to_text(trial.source)},
                 {"status", status_word(trial.status)},
                 {"reason", trial.reason},
                 {"parameter_id", to_json(trial.proposed.parameter_id)},
                 {"parameters", trial.proposed.parameters},
                 {"score", maybe(trial.score(objectives.front().metric))},
                 {"final", trial.final_metric},
                 {"last", trial.last_metric},
                 {"attempts", trial.attempts},
                 {"failures", trial.failures},
                 {"reports", trial.reports},
                 {"checkpoint", trial.checkpoint},
                 {"started", time_json(trial.start_time)},
                 {"ended", time_json(trial.end_time)}};
  if (has_ended(trial.status)) add_objectives(object, trial, objectives);
  return object;
}

json whole_trial_json(const StoredTrial& whole, const std::vector<Objective>& objectives) {
  json object = trial_json(whole.trial, objectives);
  object["attempt_list"] = array_of(whole.attempts, [](const StoredAttempt& attempt) -> json {
    return {{"attempt", attempt.attempt},
            {"from_checkpoint", attempt.from_checkpoint},
            {"started", attempt.started},
            {"ended", maybe(attempt.ended)},
            {"ending", attempt.ending ? json(to_text(*attempt.ending)) : json()},
            {"detail", attempt.detail},
            {"cpu_seconds", attempt.cpu_seconds},
            {"max_rss", attempt.max_rss},
            {"worker", attempt.worker},
            {"host", attempt.host},
            {"gpus", attempt.gpus}};
  });
  object["parameter_list"] = array_of(whole.parameters, [](const StoredParameter& each) -> json {
    return {{"index", each.index},
            {"attempt", each.attempt},
            {"parameter_id", to_json(each.proposed.parameter_id)},
            {"parameters", each.proposed.parameters}};
  });
  object["report_list"] = array_of(whole.reports, [](const StoredReport& report) -> json {
    return {{"report", report.report},      {"attempt", report.attempt},
            {"type", report.type},          {"sequence", report.sequence},
            {"time", report.time},          {"position", report.position},
            {"late", report.late},          {"ignored", report.ignored},
            {"score", maybe(report.value)}, {"text", report.text}};
  });
  object["decision_list"] = array_of(whole.decisions, [](const StoredDecision& each) -> json {
    return {{"time", each.time}, {"action", each.action}, {"by", each.by}, {"reason", each.reason}};
  });
  object["checkpoint_list"] =
      array_of(whole.checkpoints, [](const StoredCheckpoint& checkpoint) -> json {
        return {{"checkpoint", checkpoint.checkpoint}, {"attempt", checkpoint.attempt},
                {"state", checkpoint.state},           {"bytes", checkpoint.bytes},
                {"error", checkpoint.error},           {"saved", checkpoint.saved},
                {"dropped", maybe(checkpoint.dropped)}};
      });
  object["event_list"] = array_of(whole.events, [](const StoredEvent& event) -> json {
    return {{"time", event.time}, {"kind", event.kind}, {"text", event.text}};
  });
  return object;
}

json tally_json(const Tally& tally) {
  return {{"pending", tally.pending},
          {"running", tally.running},
          {"waiting", tally.waiting},
          {"paused", tally.paused},
          {"succeeded", tally.succeeded},
          {"failed", tally.failed},
          {"early_stopped", tally.early_stopped},
          {"user_canceled", tally.user_canceled}};
}

json experiment_json(const StoredExperiment& experiment, const Tally& tally,
                     const std::optional<BestSoFar>& best) {
  json object = {{"experiment_id", experiment.id},
                 {"name", experiment.name},
                 {"directory", experiment.directory.string()},
                 {"status", to_text(experiment.status)},
                 {"reason", experiment.reason},
                 {"objective", experiment.objective().metric},
                 {"optimize_mode", experiment.objective().maximize ? "maximize" : "minimize"},
                 {"seed", experiment.seed},
                 {"runs", experiment.runs},
                 {"manager_pid", experiment.manager_pid},
                 {"started", experiment.started},
                 {"ended", maybe(experiment.ended)},
                 {"trials", tally_json(tally)},
                 {"best", nullptr}};
  if (experiment.objectives.size() > 1) object["objectives"] = to_json(experiment.objectives);
  if (several(experiment.objectives)) object["trade_off_count"] = best ? best->trade_offs : 0;
  if (!best) return object;
  object["best"] = {{"trial_job_id", best->trial.job_id},
                    {"score", maybe(best->trial.score(experiment.objective().metric))},
                    {"final", best->trial.final_metric},
                    {"parameters", best->trial.proposed.parameters}};
  add_objectives(object["best"], best->trial, experiment.objectives);
  return object;
}

}  // namespace attune
