#include "manager/interchange/optuna_study.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <set>

namespace attune {
namespace {

class Replay {
 public:
  // Error: the record lacks what its operation needs.
  Result<void> apply(const json& record);
  std::vector<OptunaStudy> studies();

 private:
  OptunaStudy* study(const json& record);
  OptunaTrial* open_trial(const json& record);
  Result<void> create_trial(const json& record);
  static Result<void> set_parameter(OptunaTrial& trial, const std::string& name,
                                    const json& distribution, const json& number);
  static Result<void> set_values(OptunaTrial& trial, const json& record);

  std::vector<OptunaStudy> studies_;
  std::set<std::size_t> deleted_;
  std::vector<std::pair<std::size_t, std::size_t>> trials_;  // trial_id -> study, number
};

std::optional<std::int64_t> id_in(const json& record, const char* member) {
  const json id = record.value(member, json());
  return id.is_number_integer() && id >= 0 ? std::optional(id.get<std::int64_t>()) : std::nullopt;
}

// An empty object if the record has none.
json object_in(const json& record, const char* member) {
  json found = record.value(member, json());
  return found.is_object() ? found : json::object();
}

void merge(json& attributes, const json& record, const char* member) {
  attributes.update(object_in(record, member));
}

// Nothing: Optuna ignores an operation on a study that does not exist.
OptunaStudy* Replay::study(const json& record) {
  const auto id = id_in(record, "study_id");
  if (!id || static_cast<std::size_t>(*id) >= studies_.size()) return nullptr;
  return deleted_.contains(static_cast<std::size_t>(*id)) ? nullptr : &studies_[*id];
}

// Nothing: Optuna ignores an operation on a trial that does not exist, or has ended.
OptunaTrial* Replay::open_trial(const json& record) {
  const auto id = id_in(record, "trial_id");
  if (!id || static_cast<std::size_t>(*id) >= trials_.size()) return nullptr;
  const auto [study, number] = trials_[static_cast<std::size_t>(*id)];
  OptunaTrial& trial = studies_[study].trials[number];
  const bool open = trial.state == OptunaState::running || trial.state == OptunaState::waiting;
  return open ? &trial : nullptr;
}

Result<void> Replay::set_parameter(OptunaTrial& trial, const std::string& name,
                                   const json& distribution, const json& number) {
  if (!distribution.is_string() || !number.is_number() || !std::isfinite(number.get<double>()))
    return fail(fmt::format("parameter {}: a distribution and a finite number expected", name));
  json parsed = TRY(parse_json(distribution.get<std::string>()));
  if (!parsed.is_object() || !parsed.value("name", json()).is_string() ||
      !parsed.value("attributes", json()).is_object())
    return fail(fmt::format("parameter {}: its distribution has no name or no attributes", name));
  const bool known = !trial.distributions.insert_or_assign(name, std::move(parsed)).second;
  if (known) std::erase_if(trial.numbers, [&](const auto& each) { return each.first == name; });
  trial.numbers.emplace_back(name, number.get<double>());
  return {};
}

Result<void> Replay::set_values(OptunaTrial& trial, const json& record) {
  json values = record.value("values", json());
  if (values.is_null() && record.contains("value") && record["value"].is_number())
    values = json::array({record["value"]});
  if (values.is_null()) return {};
  if (!values.is_array()) return fail("values: a list expected");
  trial.values.clear();
  for (const json& value : values) {
    if (!value.is_number()) return fail("values: numbers expected");
    trial.values.push_back(value.get<double>());
  }
  return {};
}

Result<void> set_intermediate(OptunaTrial& trial, const std::string& step, const json& value) {
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(step.data(), step.data() + step.size(), number);
  if (error != std::errc{} || end != step.data() + step.size() || !value.is_number())
    return fail("an intermediate value needs a whole step and a number");
  trial.intermediate[number] = value.get<double>();
  return {};
}

Result<void> set_state(OptunaTrial& trial, const json& record) {
  const json state = record.value("state", json(0));
  if (!state.is_number_integer() || state < 0 || state > 4)
    return fail("state: a number from 0 to 4 expected");
  trial.state = static_cast<OptunaState>(state.get<int>());
  if (const auto time = seconds_of_optuna_time(record.value("datetime_start", json())))
    trial.started = time;
  if (const auto time = seconds_of_optuna_time(record.value("datetime_complete", json())))
    trial.ended = time;
  return {};
}

Result<void> Replay::create_trial(const json& record) {
  OptunaStudy* owner = study(record);
  if (owner == nullptr) return {};
  trials_.emplace_back(static_cast<std::size_t>(owner - studies_.data()), owner->trials.size());
  OptunaTrial trial;
  trial.number = std::ssize(owner->trials);
  TRY(set_state(trial, record));
  TRY(set_values(trial, record));
  merge(trial.user_attributes, record, "user_attrs");
  merge(trial.system_attributes, record, "system_attrs");
  const json numbers = object_in(record, "params");
  const json distributions = object_in(record, "distributions");
  for (const auto& [name, number] : numbers.items())
    TRY(set_parameter(trial, name, distributions.value(name, json()), number));
  const json curve = object_in(record, "intermediate_values");
  for (const auto& [step, value] : curve.items()) TRY(set_intermediate(trial, step, value));
  owner->trials.push_back(std::move(trial));
  return {};
}

Result<void> Replay::apply(const json& record) {
  const auto code = record.is_object() ? id_in(record, "op_code") : std::nullopt;
  if (!code) return fail("an object with an op_code expected");
  const auto operation = static_cast<OptunaOperation>(*code);
  if (operation == OptunaOperation::create_study) {
    const json name = record.value("study_name", json());
    const json directions = record.value("directions", json());
    if (!name.is_string() || !directions.is_array() || directions.empty())
      return fail("a study needs a study_name and directions");
    OptunaStudy made{.name = name.get<std::string>(), .directions = {}, .trials = {}};
    for (std::size_t i = 0; i < studies_.size(); ++i)
      if (studies_[i].name == made.name && !deleted_.contains(i))
        return {};  // as Optuna ignores it
    for (const json& each : directions)
      made.directions.push_back(each == kOptunaMaximize ? kOptunaMaximize : kOptunaMinimize);
    studies_.push_back(std::move(made));
    return {};
  }
  if (operation == OptunaOperation::create_trial) return create_trial(record);
  if (OptunaStudy* found = study(record)) {
    if (operation == OptunaOperation::delete_study)
      deleted_.insert(static_cast<std::size_t>(found - studies_.data()));
    if (operation == OptunaOperation::study_user_attribute)
      merge(found->user_attributes, record, "user_attr");
    if (operation == OptunaOperation::study_system_attribute)
      merge(found->system_attributes, record, "system_attr");
    return {};
  }
  OptunaTrial* trial = open_trial(record);
  if (trial == nullptr) return {};
  switch (operation) {
    case OptunaOperation::trial_parameter: {
      const json name = record.value("param_name", json());
      if (!name.is_string()) return fail("param_name: a text expected");
      return set_parameter(*trial, name.get<std::string>(), record.value("distribution", json()),
                           record.value("param_value_internal", json()));
    }
    case OptunaOperation::trial_state:
      TRY(set_values(*trial, record));
      return set_state(*trial, record);
    case OptunaOperation::trial_intermediate_value:
      return set_intermediate(*trial, dump_json(record.value("step", json())),
                              record.value("intermediate_value", json()));
    case OptunaOperation::trial_user_attribute:
      merge(trial->user_attributes, record, "user_attr");
      break;
    case OptunaOperation::trial_system_attribute:
      merge(trial->system_attributes, record, "system_attr");
      break;
    default:  // of a later Optuna
      break;
  }
  return {};
}

std::vector<OptunaStudy> Replay::studies() {
  std::vector<OptunaStudy> found;
  for (std::size_t i = 0; i < studies_.size(); ++i)
    if (!deleted_.contains(i)) found.push_back(studies_[i]);
  return found;
}

}  // namespace

const double* OptunaTrial::find(const std::string& name) const {
  const auto found = std::ranges::find(numbers, name, &std::pair<std::string, double>::first);
  return found == numbers.end() ? nullptr : &found->second;
}

Result<std::vector<OptunaStudy>> parse_optuna_journal(std::string_view text) {
  Replay replay;
  std::size_t begin = 0;
  for (int line = 1; begin < text.size(); ++line) {
    const std::size_t end = text.find('\n', begin);
    if (end == std::string_view::npos) break;  // not whole
    const auto record = parse_json(text.substr(begin, end - begin));
    const auto applied =
        record ? replay.apply(*record) : Result<void>(std::unexpected(record.error()));
    if (!applied) return fail(fmt::format("line {}: {}", line, applied.error().message));
    begin = end + 1;
  }
  return replay.studies();
}

}  // namespace attune
