#include "manager/interchange/tensorboard_export.h"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include "base/names.h"
#include "manager/interchange/event_file.h"
#include "manager/interchange/flat_names.h"
#include "manager/interchange/learning_curve.h"
#include "manager/trials/tuning_status.h"

namespace attune {
namespace {

// Numbers of fields and values in the messages of the HParams plug-in.
constexpr int kExperimentData = 2, kSessionStart = 3, kSessionEnd = 4;
enum SessionStatus { kSuccess = 1, kFailure = 2 };
enum DataType { kText = 1, kBoolean = 2, kNumber = 3 };

std::string final_tag(const std::string& metric) { return "final/" + metric; }

// google.protobuf.Value
ProtoMessage proto_value(const json& value) {
  if (value.is_boolean()) return ProtoMessage().integer(4, value.get<bool>() ? 1 : 0);
  if (value.is_number()) return ProtoMessage().real(2, value.get<double>());
  return ProtoMessage().text(3, value.is_string() ? value.get<std::string>() : dump_json(value));
}

// The plug-in wants values of one type: of mixed candidates all are texts.
DataType type_of(const Domain& domain) {
  const auto* choice = std::get_if<Choice>(&domain);
  if (choice == nullptr) return std::holds_alternative<Subset>(domain) ? kText : kNumber;
  const auto all = [&](auto is) { return std::ranges::all_of(choice->candidates, is); };
  if (all([](const json& each) { return each.is_number(); })) return kNumber;
  return all([](const json& each) { return each.is_boolean(); }) ? kBoolean : kText;
}

json typed(const json& value, DataType type) {
  return type == kText ? json(candidate_text(value)) : value;
}

// HParamInfo
ProtoMessage parameter_info(const std::string& name, const Domain& domain) {
  const DataType type = type_of(domain);
  ProtoMessage info = ProtoMessage().text(1, name).integer(4, type);
  if (const auto* choice = std::get_if<Choice>(&domain)) {
    ProtoMessage list;
    for (const json& each : choice->candidates) list.message(1, proto_value(typed(each, type)));
    return info.message(5, list);
  }
  std::optional<std::pair<double, double>> bounds;
  if (const auto* range = std::get_if<Uniform>(&domain)) bounds = {range->low, range->high};
  if (const auto* range = std::get_if<IntRange>(&domain))
    bounds = {static_cast<double>(range->low), static_cast<double>(range->high - 1)};
  if (bounds) info.message(6, ProtoMessage().real(1, bounds->first).real(2, bounds->second));
  return info;
}

class TensorboardExporter final : public Exporter {
 public:
  TensorboardExporter(const ExportedExperiment& experiment, std::filesystem::path folder)
      : experiment_(experiment), folder_(std::move(folder)), names_(flat_names(experiment.space)) {
    for (std::size_t i = 0; i < names_.size(); ++i)
      types_[names_[i]] = type_of(experiment.space.params[i].domain);
  }

  Result<void> write_experiment() const;
  Result<void> add(const StoredTrial& trial) override;

 private:
  const ExportedExperiment& experiment_;
  std::filesystem::path folder_;
  std::vector<std::string> names_;
  std::map<std::string, DataType> types_;
};

Result<void> TensorboardExporter::write_experiment() const {
  const StoredExperiment& stored = experiment_.stored;
  ProtoMessage data;
  data.text(6, stored.name.empty() ? stored.id : stored.name).real(3, stored.started);
  for (std::size_t i = 0; i < names_.size(); ++i)
    data.message(4, parameter_info(names_[i], experiment_.space.params[i].domain));
  for (const Objective& objective : stored.objectives) {
    const ProtoMessage name = ProtoMessage().text(2, final_tag(objective.metric));
    data.message(5, ProtoMessage().message(1, name).text(3, objective.metric));
  }
  EventFile file = TRY(EventFile::make(folder_, stored.started));
  file.hparams("_hparams_/experiment", kExperimentData, data, stored.started);
  return file.close();
}

Result<void> TensorboardExporter::add(const StoredTrial& stored) {
  const TrialRecord& trial = stored.trial;
  if (trial.start_time <= 0) {
    losses_.add("TensorBoard has no trials that have not started");
    return {};
  }
  TRY(check_name("the trial", trial.job_id));
  EventFile file = TRY(EventFile::make(folder_ / trial.job_id, trial.start_time));
  ProtoMessage start;
  for (const auto& [name, value] :
       flat_parameters(experiment_.space, names_, trial.proposed.parameters)) {
    const auto type = types_.find(name);
    const json written = type == types_.end() ? value : typed(value, type->second);
    start.message(1, ProtoMessage().text(1, name).message(2, proto_value(written)));
  }
  start.text(4, trial.job_id).real(5, trial.start_time);
  file.hparams("_hparams_/session_start_info", kSessionStart, start, trial.start_time);
  const std::string& objective = experiment_.stored.objective().metric;
  std::int64_t last = 0;
  for (const LearningPoint& point : learning_curve(stored, experiment_)) {
    for (const auto& [name, value] : metrics_of(point.metric, objective))
      file.scalar(name, point.step, value, point.time);
    last = point.step;
  }
  for (const auto& [name, value] : metrics_of(trial.final_metric, objective))
    file.scalar(final_tag(name), last, value, trial.end_time);
  if (has_ended(trial.status)) {
    const bool fine =
        trial.status == TrialStatus::succeeded || trial.status == TrialStatus::early_stopped;
    file.hparams("_hparams_/session_end_info", kSessionEnd,
                 ProtoMessage().integer(1, fine ? kSuccess : kFailure).real(2, trial.end_time),
                 trial.end_time);
  }
  if (trial.status == TrialStatus::early_stopped)
    losses_.add(
        "TensorBoard knows success and failure; a trial that was stopped early has success");
  if (trial.status == TrialStatus::user_canceled)
    losses_.add("TensorBoard knows success and failure; a cancelled trial has failure");
  return file.close();
}

}  // namespace

Result<std::unique_ptr<Exporter>> tensorboard_exporter(const ExportedExperiment& experiment,
                                                       const std::filesystem::path& folder,
                                                       const std::filesystem::path&) {
  auto exporter = std::make_unique<TensorboardExporter>(experiment, folder);
  TRY(exporter->write_experiment());
  return exporter;
}

}  // namespace attune
