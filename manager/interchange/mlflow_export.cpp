#include "manager/interchange/mlflow_export.h"

#include <fmt/format.h>
#include <string.h>

#include <algorithm>
#include <fstream>
#include <map>
#include <utility>

#include "base/names.h"
#include "manager/interchange/flat_names.h"
#include "manager/interchange/learning_curve.h"
#include "manager/trials/tuning_status.h"
#include "os/private_file.h"

namespace attune {
namespace {

namespace fs = std::filesystem;

enum RunStatus { kRunning = 1, kScheduled = 2, kFinished = 3, kFailed = 4, kKilled = 5 };
constexpr int kLocalSource = 4;

RunStatus run_status_of(TrialStatus status) {
  switch (status) {
    case TrialStatus::pending:
      return kScheduled;
    case TrialStatus::running:
    case TrialStatus::paused:
      return kRunning;
    case TrialStatus::succeeded:
    case TrialStatus::early_stopped:
      return kFinished;
    case TrialStatus::failed:
      return kFailed;
    case TrialStatus::user_canceled:
      return kKilled;
  }
  return kFailed;
}

std::int64_t milliseconds(double seconds) { return static_cast<std::int64_t>(seconds * 1000); }

// JSON is YAML: texts in quotes, so that none is read as a number or as null.
std::string yaml_lines(const json& members) {
  std::string text;
  for (const auto& [name, value] : members.items()) text += name + ": " + dump_json(value) + "\n";
  return text;
}

// Not flushed to the disk: of many small files that would take the most time.
Result<void> write_text(const fs::path& path, const std::string& text) {
  std::ofstream file(path, std::ios::binary);
  file << text;
  file.close();
  if (!file) return fail(fmt::format("cannot write {}: {}", path.string(), strerror(errno)));
  return {};
}

class MlflowExporter final : public Exporter {
 public:
  MlflowExporter(const ExportedExperiment& experiment, fs::path folder, fs::path home)
      : experiment_(experiment),
        folder_(std::move(folder)),
        home_(std::move(home)),
        names_(flat_names(experiment.space)) {}

  Result<void> write_experiment() const;
  Result<void> add(const StoredTrial& trial) override;

 private:
  std::string file_name(const std::string& name);
  Result<void> write_files(const fs::path& folder, const std::map<std::string, std::string>& files);
  std::string uri() const { return "file://" + home_.string(); }

  const ExportedExperiment& experiment_;
  const fs::path folder_, home_;
  const std::vector<std::string> names_;
};

// MLflow takes letters, digits, '_', '-', '.' and blanks; a slash would be a folder.
std::string MlflowExporter::file_name(const std::string& name) {
  std::string fitting = name;
  const auto is_fine = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '-' || c == '.' || c == ' ';
  };
  std::ranges::replace_if(fitting, [&](char c) { return !is_fine(c); }, '_');
  if (fitting.find_first_not_of('.') == std::string::npos) fitting += '_';  // "", "." and ".."
  if (fitting != name) losses_.add(fmt::format("{} is called {}", dump_json(name), fitting));
  return fitting;
}

Result<void> MlflowExporter::write_files(const fs::path& folder,
                                         const std::map<std::string, std::string>& files) {
  TRY(make_directories(folder));
  for (const auto& [name, text] : files) TRY(write_text(folder / file_name(name), text));
  return {};
}

Result<void> MlflowExporter::write_experiment() const {
  const StoredExperiment& stored = experiment_.stored;
  TRY(make_directories(folder_));
  return write_text(
      folder_ / "meta.yaml",
      yaml_lines({{"artifact_location", uri()},
                  {"creation_time", milliseconds(stored.started)},
                  {"experiment_id", stored.id},
                  {"last_update_time", milliseconds(stored.ended.value_or(stored.started))},
                  {"lifecycle_stage", "active"},
                  {"name", stored.name.empty() ? stored.id : stored.name + " " + stored.id}}));
}

Result<void> MlflowExporter::add(const StoredTrial& stored) {
  const TrialRecord& trial = stored.trial;
  TRY(check_name("the trial", trial.job_id));
  const std::string run = experiment_.stored.id + "-" + trial.job_id;
  const double start = trial.start_time > 0 ? trial.start_time : experiment_.stored.started;
  json meta = {{"artifact_uri", uri() + "/" + run + "/artifacts"},
               {"end_time", nullptr},
               {"entry_point_name", ""},
               {"experiment_id", experiment_.stored.id},
               {"lifecycle_stage", "active"},
               {"run_id", run},
               {"run_name", trial.job_id},
               {"run_uuid", run},
               {"source_name", ""},
               {"source_type", kLocalSource},
               {"source_version", ""},
               {"start_time", milliseconds(start)},
               {"status", static_cast<int>(run_status_of(trial.status))},
               {"tags", json::array()},
               {"user_id", "attune"}};
  if (has_ended(trial.status)) meta["end_time"] = milliseconds(trial.end_time);
  std::map<std::string, std::string> parameters, metrics, results;
  for (const auto& [name, value] :
       flat_parameters(experiment_.space, names_, trial.proposed.parameters))
    parameters[name] = value.is_string() ? value.get<std::string>() : dump_json(value);
  const std::string& objective = experiment_.stored.objective().metric;
  const auto line = [](double time, double value, std::int64_t step) {
    return fmt::format("{} {} {}\n", milliseconds(time), value, step);
  };
  std::int64_t last = 0;
  for (const LearningPoint& point : learning_curve(stored, experiment_)) {
    for (const auto& [name, value] : metrics_of(point.metric, objective))
      metrics[name] += line(point.time, value, point.step);
    last = point.step;
  }
  for (const auto& [name, value] : metrics_of(trial.final_metric, objective))
    results[name] = line(trial.end_time, value, last);
  std::map<std::string, std::string> tags = {{"mlflow.runName", trial.job_id},
                                             {"attune.job_id", trial.job_id},
                                             {"attune.status", status_word(trial.status)},
                                             {"attune.source", std::string(to_text(trial.source))}};
  if (!trial.reason.empty()) tags["attune.reason"] = trial.reason;
  const fs::path folder = folder_ / run;
  TRY(write_files(folder / "params", parameters));
  TRY(write_files(folder / "metrics", metrics));
  if (!results.empty()) TRY(write_files(folder / "metrics" / "final", results));
  TRY(write_files(folder / "tags", tags));
  TRY(make_directories(folder / "artifacts"));
  if (trial.status == TrialStatus::early_stopped)
    losses_.add(
        "MLflow has no early stopping; such a trial has finished, see its tag attune.status");
  if (trial.status == TrialStatus::paused)
    losses_.add("MLflow pauses no runs; a paused trial is running, see its tag attune.status");
  return write_text(folder / "meta.yaml", yaml_lines(meta));
}

}  // namespace

Result<std::unique_ptr<Exporter>> mlflow_exporter(const ExportedExperiment& experiment,
                                                  const fs::path& folder, const fs::path& home) {
  TRY(check_name("the experiment", experiment.stored.id));
  auto exporter = std::make_unique<MlflowExporter>(experiment, folder, home);
  TRY(exporter->write_experiment());
  return exporter;
}

}  // namespace attune
