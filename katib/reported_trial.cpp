#include "katib/reported_trial.h"

#include <google/protobuf/arena.h>

#include <algorithm>

namespace attune::katib {

using namespace api::v1::beta1;

Values values_of(const Plan& plan, const Trial& trial) {
  // Most specifications fit into the block: then their messages need no allocation.
  char block[4096];
  google::protobuf::Arena arena(block, sizeof block);
  auto& spec = *google::protobuf::Arena::CreateMessage<TrialSpec>(&arena);
  if (!spec.ParseFromString(trial.spec())) spec.Clear();  // a part of it would be a wrong point
  const auto& given = spec.parameter_assignments().assignments();
  Values values;
  values.reserve(plan.parameters.size());
  int next = 0;  // Katib keeps our order: the search is for others
  for (const Parameter& parameter : plan.parameters) {
    if (next < given.size() && given[next].name() == parameter.name()) {
      values.push_back(given[next++].value());
      continue;
    }
    const auto found =
        std::ranges::find(given, parameter.name(), [](const auto& each) { return each.name(); });
    values.push_back(found == given.end() ? std::string() : found->value());
    if (found != given.end()) next = static_cast<int>(found - given.begin()) + 1;
  }
  return values;
}

bool has_ended(const Trial& trial) {
  switch (trial.status().condition()) {
    case TrialStatus::SUCCEEDED:
    case TrialStatus::KILLED:
    case TrialStatus::FAILED:
    case TrialStatus::METRICSUNAVAILABLE:
    case TrialStatus::EARLYSTOPPED:
      return true;
    default:
      return false;
  }
}

json metrics_of(const Plan& plan, const Trial& trial) {
  json metrics = json::object();
  const auto& given = trial.status().observation().metrics();
  const auto add = [&](const std::string& name) {
    const auto found = std::ranges::find(given, name, [](const auto& each) { return each.name(); });
    const auto number = found == given.end() ? std::nullopt : number_of(found->value());
    if (number) metrics[name] = *number;
    return number.has_value();
  };
  if (!add(plan.objective.metric)) return nullptr;
  for (const std::string& name : plan.additional_metrics) add(name);
  return metrics;
}

}  // namespace attune::katib
