#include "manager/interchange/trial_rows.h"

#include <utility>

#include "manager/store/stored_values.h"
#include "protocol/codec.h"

namespace attune {
namespace {

void add_metrics(json& row, const json& metric, const std::string& objective) {
  if (metric.is_object()) {
    for (const auto& [name, value] : metric.items()) row["metrics." + name] = value;
  } else if (!metric.is_null()) {
    row["metrics." + objective] = metric;
  }
}

// The row of one trial, with its columns in order. Columns without a value are left out.
json flat(const TrialRecord& trial, const std::string& objective) {
  json row = {{"trial_job_id", trial.job_id},    {"sequence", trial.sequence},
              {"source", to_text(trial.source)}, {"status", status_word(trial.status)},
              {"reason", trial.reason},          {"attempts", trial.attempts},
              {"failures", trial.failures},      {"reports", trial.reports}};
  if (trial.start_time > 0) row["started"] = trial.start_time;
  if (trial.end_time > 0) {
    row["ended"] = trial.end_time;
    if (trial.start_time > 0) row["seconds"] = trial.end_time - trial.start_time;
  }
  if (const auto score = number_of(trial.final_metric, objective)) row["score"] = *score;
  if (const auto last = number_of(trial.last_metric, objective)) row["last"] = *last;
  add_metrics(row, trial.final_metric, objective);
  if (trial.proposed.parameters.is_object()) {
    for (const auto& [name, value] : trial.proposed.parameters.items())
      row["parameters." + name] = value;
  }
  return row;
}

// The row of one intermediate result. Columns without a value are left out.
json flat_report(const std::string& job_id, const StoredReport& report,
                 const std::string& objective) {
  json row = {{"trial_job_id", job_id},
              {"attempt", report.attempt},
              {"report", report.report},
              {"sequence", report.sequence},
              {"time", report.time}};
  if (report.ran) row["seconds"] = *report.ran;
  const auto command = decode(Frame{"ME", report.text});
  const auto* metric = command ? std::get_if<ReportMetricData>(&*command) : nullptr;
  const json value = metric == nullptr ? json() : metric->value;
  if (const auto score = number_of(value, objective)) row["score"] = *score;
  row["late"] = report.late;
  row["ignored"] = report.ignored;
  add_metrics(row, value, objective);
  return row;
}

class LinesExporter final : public Exporter {
 public:
  LinesExporter(const ExportedExperiment& experiment, std::FILE* out)
      : experiment_(experiment), out_(out) {}

  Result<void> add(const StoredTrial& trial) override {
    write_line(flat(trial.trial, experiment_.stored.objective().metric), out_);
    return {};
  }

 private:
  const ExportedExperiment& experiment_;
  std::FILE* out_;
};

}  // namespace

ExportTable trials_table(StoreReader& reader, const StoredExperiment& experiment) {
  return {{"trial_job_id", "sequence", "source", "status", "reason", "attempts", "failures",
           "reports", "started", "ended", "seconds", "score", "last"},
          [&](const ExportTable::Each& each) {
            return reader.trials(experiment, {}, [&](const TrialRecord& trial) {
              each(flat(trial, experiment.objective().metric));
              return true;
            });
          }};
}

ExportTable reports_table(StoreReader& reader, const StoredExperiment& experiment) {
  return {{"trial_job_id", "attempt", "report", "sequence", "time", "seconds", "score", "late",
           "ignored"},
          [&](const ExportTable::Each& each) {
            return reader.intermediate_reports(
                experiment, [&](const std::string& job_id, const StoredReport& report) {
                  each(flat_report(job_id, report, experiment.objective().metric));
                });
          }};
}

Result<std::unique_ptr<Exporter>> lines_exporter(const ExportedExperiment& experiment,
                                                 std::FILE* out) {
  return std::make_unique<LinesExporter>(experiment, out);
}

}  // namespace attune
