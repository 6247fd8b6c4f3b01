#include "manager/interchange/optuna_export.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <set>
#include <utility>

#include "base/objective_json.h"
#include "base/python_json.h"
#include "base/standing.h"
#include "manager/interchange/flat_names.h"
#include "manager/interchange/learning_curve.h"
#include "manager/interchange/optuna_distribution.h"
#include "manager/interchange/optuna_journal.h"
#include "manager/store/stored_values.h"
#include "os/standard_output.h"

namespace attune {
namespace {

struct OptunaParameter {
  std::string name;
  std::optional<json> distribution;  // nothing: Optuna has no such parameter
};

class OptunaExporter final : public Exporter {
 public:
  OptunaExporter(const ExportedExperiment& experiment, std::FILE* out)
      : experiment_(experiment), out_(out) {
    const std::vector<std::string> names = flat_names(experiment.space);
    for (std::size_t i = 0; i < names.size(); ++i)
      parameters_.push_back(
          {names[i], optuna_distribution(experiment.space.params[i].domain, names[i], losses_)});
    write_study();
  }

  Result<void> add(const StoredTrial& trial) override;

 private:
  void write(OptunaOperation operation, const json& members) {
    json line = {{"op_code", static_cast<int>(operation)},
                 {"worker_id", "attune-" + experiment_.stored.id}};
    line.update(members);
    put_text(out_, dump_python_json(line) + "\n");
  }
  void write_study();
  void add_parameters(const json& parameters, json& line);
  OptunaState add_values(const TrialRecord& trial, const json& last, json& line) const;

  const ExportedExperiment& experiment_;
  std::FILE* out_;
  std::vector<OptunaParameter> parameters_;
};

void OptunaExporter::write_study() {
  const StoredExperiment& stored = experiment_.stored;
  json directions = json::array(), names = json::array();
  for (const Objective& objective : stored.objectives) {
    if (objective.limit) continue;
    directions.push_back(objective.maximize ? kOptunaMaximize : kOptunaMinimize);
    names.push_back(objective.metric);
  }
  write(OptunaOperation::create_study,
        {{"study_name", stored.name.empty() ? stored.id : stored.name},
         {"directions", std::move(directions)}});
  const auto attribute = [&](OptunaOperation operation, const char* member, const char* name,
                             json value) {
    write(operation, {{"study_id", 0}, {member, {{name, std::move(value)}}}});
  };
  const auto user = [&](const char* name, json value) {
    attribute(OptunaOperation::study_user_attribute, "user_attr", name, std::move(value));
  };
  attribute(OptunaOperation::study_system_attribute, "system_attr", kOptunaMetricNames,
            std::move(names));
  user("attune:experiment", {{"id", stored.id}, {"name", stored.name}, {"seed", stored.seed}});
  user("attune:objectives", to_json(stored.objectives));
  if (!stored.file.is_object()) return;
  if (stored.file.contains("searchSpace")) user("attune:search_space", stored.file["searchSpace"]);
  const json constraints = stored.file.value("constraints", json::array());
  if (constraints.empty()) return;
  user("attune:constraints", constraints);
  losses_.add(
      "Optuna has no constraints on parameters; they are in attune:constraints of the study");
}

void OptunaExporter::add_parameters(const json& parameters, json& line) {
  json& distributions = line["distributions"] = json::object();
  json& numbers = line["params"] = json::object();
  const auto point = point_from_json(experiment_.space, parameters);
  bool whole = point.has_value();
  for (std::size_t i = 0; point && i < parameters_.size(); ++i) {
    if (!point->active(i)) continue;
    const OptunaParameter& each = parameters_[i];
    whole = whole && each.distribution;
    if (!each.distribution) continue;
    const double number = optuna_number(experiment_.space.params[i].domain, point->values[i]);
    distributions[each.name] = dump_json(widened(*each.distribution, number));
    numbers[each.name] = number;
    // Whole numbers, as Optuna writes them.
    if ((*each.distribution)["name"] != "FloatDistribution")
      numbers[each.name] = static_cast<std::int64_t>(number);
  }
  if (!point)
    losses_.add(
        "some trials do not lie in the present search space; they have no parameters in Optuna");
  if (!whole) line["user_attrs"]["attune:parameters"] = parameters;
}

// `last`: the newest intermediate result.
OptunaState OptunaExporter::add_values(const TrialRecord& trial, const json& last,
                                       json& line) const {
  const std::vector<Objective>& objectives = experiment_.stored.objectives;
  const bool ranked = standing_of(trial.final_metric, objectives).has_value();
  const auto value = [&](std::size_t i) {
    return reported_value(trial.final_metric, objectives[i].metric, i == 0);
  };
  if (trial.status == TrialStatus::early_stopped) {
    // As Optuna does it: a trial that was pruned has its last intermediate value.
    const auto known = value(0) ? value(0) : reported_value(last, objectives[0].metric, true);
    if (known && !several(objectives)) line["value"] = *known;
    return OptunaState::pruned;
  }
  if (trial.status != TrialStatus::succeeded || !ranked) return OptunaState::failed;
  json values = json::array(), excesses = json::array();
  for (std::size_t i = 0; i < objectives.size(); ++i) {
    if (objectives[i].limit) {
      excesses.push_back(to_minimise(*value(i), objectives[i]));
    } else {
      values.push_back(*value(i));
    }
  }
  if (!excesses.empty()) line["system_attrs"][kOptunaConstraints] = std::move(excesses);
  if (values.size() == 1) {
    line["value"] = values[0];
  } else {
    line["values"] = std::move(values);
  }
  return OptunaState::complete;
}

Result<void> OptunaExporter::add(const StoredTrial& stored) {
  const TrialRecord& trial = stored.trial;
  json line = {{"study_id", 0},
               {"datetime_start", nullptr},
               {"state", 0},
               {"value", nullptr},
               {"values", nullptr},
               {"distributions", nullptr},
               {"params", nullptr},
               {"user_attrs", json::object()},
               {"system_attrs", json::object()}};
  const bool ended = has_ended(trial.status);
  // A trial that was cancelled while it waited has no start; Optuna wants one.
  const double start = trial.start_time > 0 ? trial.start_time : trial.end_time;
  const bool waits = trial.status == TrialStatus::pending;
  if (!waits) line["datetime_start"] = optuna_time(start);
  if (ended) line["datetime_complete"] = optuna_time(trial.end_time);
  add_parameters(trial.proposed.parameters, line);
  json& attributes = line["user_attrs"];
  attributes["attune:job_id"] = trial.job_id;
  attributes["attune:status"] = status_word(trial.status);
  attributes["attune:source"] = to_text(trial.source);
  if (!trial.reason.empty()) attributes["attune:reason"] = trial.reason;
  if (trial.final_metric.is_object()) attributes["attune:metrics"] = trial.final_metric;
  const auto curve = learning_curve(stored, experiment_);
  json values = json::object();
  for (const LearningPoint& point : curve) {
    const auto number = number_of(point.metric, experiment_.stored.objective().metric);
    // Steps are unique, so that the key need not be looked for.
    if (number) values.get_ref<json::object_t&>().emplace_back(std::to_string(point.step), *number);
    if (point.metric.is_object() && point.metric.size() > 1)
      losses_.add("Optuna has one intermediate value for each step: that of the first objective");
  }
  line["intermediate_values"] = std::move(values);
  const json last = curve.empty() ? json() : curve.back().metric;
  const OptunaState state = waits    ? OptunaState::waiting
                            : !ended ? OptunaState::running
                                     : add_values(trial, last, line);
  line["state"] = static_cast<int>(state);
  if (trial.status == TrialStatus::paused)
    losses_.add("Optuna pauses no trials; a paused one is running");
  if (trial.status == TrialStatus::user_canceled)
    losses_.add("Optuna cancels no trials; a cancelled one has failed");
  if (trial.status == TrialStatus::succeeded && state == OptunaState::failed)
    losses_.add("a result that lacks a finite number has failed in Optuna");
  write(OptunaOperation::create_trial, line);
  return {};
}

}  // namespace

Result<std::unique_ptr<Exporter>> optuna_exporter(const ExportedExperiment& experiment,
                                                  std::FILE* out) {
  std::set<std::string> names;
  for (const std::string& name : flat_names(experiment.space)) {
    if (!names.insert(name).second)
      return fail(fmt::format("two parameters would be called {} in Optuna", name));
  }
  return std::make_unique<OptunaExporter>(experiment, out);
}

}  // namespace attune
