#include "study/trial_json.h"

#include <fmt/format.h>

#include "base/python_json.h"

namespace attune {
namespace {

json to_object(const Metrics& metrics) {
  json object = json::object();
  for (const auto& [name, value] : metrics) object[name] = value;
  return object;
}

}  // namespace

json to_json(const StudyTrial& trial) {
  json object = {
      {"id", trial.id}, {"parameters", trial.parameters}, {"state", name_of(trial.state)}};
  if (trial.value) object["value"] = *trial.value;
  object["metrics"] = to_object(trial.metrics);
  json& reports = object["reports"] = json::array();
  for (const Report& report : trial.reports) reports.push_back(to_object(report.metrics));
  object["reason"] = trial.reason;
  return object;
}

json to_json(const Suggestion& trial) {
  return {{"id", trial.id}, {"parameters", trial.parameters}};
}

std::string text_of(const Asked& asked) {
  std::string text = "{\"trials\":[";
  for (const Suggestion& trial : asked.trials) {
    if (text.back() != '[') text += ',';
    text += fmt::format("{{\"id\":{},\"parameters\":{}}}", trial.id,
                        dump_python_json(trial.parameters));
  }
  text += fmt::format("],\"no_more\":{},\"reason\":{}}}", asked.no_more, dump_json(asked.reason));
  return text;
}

}  // namespace attune
