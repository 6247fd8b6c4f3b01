#include "manager/dashboard/nni_json.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>
#include <variant>

#include "base/python_json.h"
#include "protocol/codec.h"

namespace attune {
namespace {

std::int64_t milliseconds(double seconds) { return std::llround(seconds * 1000); }

json value_at(const json& object, const char* key) {
  return object.is_object() && object.contains(key) ? object[key] : json();
}

// NNI knows neither pauses nor trials that wait for another manager.
std::string_view status_of(TrialStatus status) {
  const bool waits = status == TrialStatus::pending || status == TrialStatus::paused;
  return waits ? "WAITING" : to_text(status);
}

bool has_all_trials(const StoredExperiment& experiment, const Tally& tally) {
  const json most = value_at(experiment.file, "maxTrialNumber");
  return most.is_number() && tally.added() >= most.get<std::int64_t>();
}

std::string running_word(const StoredExperiment& experiment, const Tally& tally) {
  if (has_all_trials(experiment, tally)) return "NO_MORE_TRIAL";
  return experiment.reason.empty() ? "RUNNING" : "TUNER_NO_MORE_TRIAL";
}

// In NNI a metric is a number, or an object whose member "default" is what the tuner goes by.
json metric_of(const json& metric, const Objective& objective) {
  if (!metric.is_object() || metric.empty()) return metric;
  const bool alone = metric.size() == 1;
  if (metric.contains("default")) return alone ? metric["default"] : metric;
  if (!metric.contains(objective.metric)) return metric;
  if (alone) return metric[objective.metric];
  json object = {{"default", metric[objective.metric]}};
  object.update(metric);
  return object;
}

struct Origin {
  double time = 0;  // seconds
  std::string job_id;
  json parameter_id;
};

json metric_json(const Origin& origin, const char* type, std::int64_t sequence, const json& metric,
                 const Objective& objective) {
  const json& id = origin.parameter_id;
  const std::string text = dump_python_json(metric_of(metric, objective));
  return {{"timestamp", milliseconds(origin.time)},
          {"trialJobId", origin.job_id},
          {"parameterId", id.is_string() ? id.get<std::string>() : dump_json(id)},
          {"type", type},
          {"sequence", sequence},
          {"data", dump_json(json(text))}};
}

json hyper_parameters(const TrialRecord& trial) {
  return {{"parameter_id", to_json(trial.proposed.parameter_id)},
          {"parameter_source", std::string(to_text(trial.source))},
          {"parameters", trial.proposed.parameters},
          {"parameter_index", 0}};
}

}  // namespace

json nni_status(const StoredExperiment& experiment, const Tally& tally) {
  switch (experiment.status) {
    case ExperimentStatus::running:
      return {{"status", running_word(experiment, tally)}, {"errors", json::array()}};
    case ExperimentStatus::completed:
      return {{"status", "DONE"}, {"errors", json::array()}};
    case ExperimentStatus::interrupted:
      return {{"status", "STOPPED"}, {"errors", json::array()}};
    case ExperimentStatus::failed:
      return {{"status", "ERROR"}, {"errors", {experiment.reason}}};
    case ExperimentStatus::killed:
      break;
  }
  return {{"status", "ERROR"}, {"errors", {"the manager was killed; attune resume goes on"}}};
}

json nni_profile(const StoredExperiment& experiment, const Tally& tally, double now) {
  json params = experiment.file.is_object() ? experiment.file : json::object();
  if (!params.contains("trainingService")) params["trainingService"] = {{"platform", "local"}};
  // NNI's page finds there whether higher is better.
  if (value_at(params, "tuner").is_object()) {
    json& tuner = params["tuner"];
    if (!value_at(tuner, "classArgs").is_object()) tuner["classArgs"] = json::object();
    const char* mode = experiment.objective().maximize ? "maximize" : "minimize";
    tuner["classArgs"].update(json{{"optimize_mode", mode}});
  }
  const bool runs = experiment.status == ExperimentStatus::running;
  const double seconds =
      runs ? std::max(experiment.seconds, now - experiment.manager_started) : experiment.seconds;
  json profile = {{"params", std::move(params)},
                  {"id", experiment.id},
                  {"execDuration", std::llround(seconds)},
                  {"logDir", experiment.directory.string()},
                  {"startTime", milliseconds(experiment.started)},
                  {"nextSequenceId", tally.added()},
                  {"revision", experiment.runs}};
  if (experiment.ended && !runs) profile["endTime"] = milliseconds(*experiment.ended);
  return profile;
}

json nni_entry(const StoredExperiment& experiment, const Tally& tally) {
  const bool runs = experiment.status == ExperimentStatus::running;
  return {{"id", experiment.id},
          {"startTime", milliseconds(experiment.started)},
          {"endTime", experiment.ended && !runs ? json(milliseconds(*experiment.ended)) : "N/A"},
          {"status", nni_status(experiment, tally)["status"]},
          {"platform", "local"},
          {"experimentName", experiment.name},
          {"tag", json::array()},
          {"pid", runs ? json(experiment.manager_pid) : json()},
          {"webuiUrl", json::array()},
          {"logDir", experiment.directory.parent_path().string()}};
}

json nni_statistics(const Tally& tally) {
  json list = json::array();
  const std::array<std::pair<const char*, std::int64_t>, 6> counts = {
      {{"WAITING", tally.pending + tally.paused},
       {"RUNNING", tally.running},
       {"SUCCEEDED", tally.succeeded},
       {"FAILED", tally.failed},
       {"EARLY_STOPPED", tally.early_stopped},
       {"USER_CANCELED", tally.user_canceled}}};
  for (const auto& [status, count] : counts)
    if (count > 0) list.push_back({{"trialJobStatus", status}, {"trialJobNumber", count}});
  return list;
}

json nni_trial(const StoredExperiment& experiment, const TrialRecord& trial, double now) {
  const std::string folder = (experiment.directory / "trials" / trial.job_id).string();
  json object = {{"trialJobId", trial.job_id},
                 {"status", status_of(trial.status)},
                 {"hyperParameters", {dump_json(hyper_parameters(trial))}},
                 {"sequenceId", trial.sequence},
                 {"startTime", milliseconds(trial.start_time > 0 ? trial.start_time : now)}};
  if (trial.end_time > 0 && has_ended(trial.status))
    object["endTime"] = milliseconds(trial.end_time);
  object["logPath"] = folder;
  if (!trial.reason.empty()) object["message"] = trial.reason;
  if (trial.status == TrialStatus::succeeded)
    if (auto metric = nni_final(experiment, trial)) object["finalMetricData"] = {*metric};
  if (trial.status == TrialStatus::failed) object["stderrPath"] = folder + "/stderr";
  return object;
}

std::optional<json> nni_result(const StoredExperiment& experiment, const TrialRecord& trial) {
  if (trial.status != TrialStatus::succeeded || trial.final_metric.is_null()) return std::nullopt;
  return json{{"parameter", trial.proposed.parameters},
              {"value", dump_python_json(metric_of(trial.final_metric, experiment.objective()))},
              {"trialJobId", trial.job_id}};
}

std::optional<json> nni_final(const StoredExperiment& experiment, const TrialRecord& trial) {
  if (trial.final_metric.is_null()) return std::nullopt;
  return metric_json({trial.end_time, trial.job_id, to_json(trial.proposed.parameter_id)}, "FINAL",
                     0, trial.final_metric, experiment.objective());
}

std::optional<json> nni_latest(const StoredExperiment& experiment, const TrialRecord& trial,
                               double now) {
  if (trial.last_metric.is_null() || trial.reports == 0) return std::nullopt;
  const double time = trial.end_time > 0 ? trial.end_time : now;
  return metric_json({time, trial.job_id, to_json(trial.proposed.parameter_id)}, "PERIODICAL",
                     trial.reports - 1, trial.last_metric, experiment.objective());
}

std::optional<json> nni_intermediate(const StoredExperiment& experiment, const std::string& job_id,
                                     const StoredReport& report, std::int64_t sequence) {
  if (report.type != "periodical" || !report.counts || report.late) return std::nullopt;
  const auto command = decode(Frame{"ME", report.text});
  const auto* metric = command ? std::get_if<ReportMetricData>(&*command) : nullptr;
  if (metric == nullptr || metric->value.is_null()) return std::nullopt;
  return metric_json({report.time, job_id, to_json(metric->parameter_id)}, "PERIODICAL", sequence,
                     metric->value, experiment.objective());
}

}  // namespace attune
