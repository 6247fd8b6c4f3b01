#include "base/objective_json.h"

namespace attune {

json to_json(const Objective& objective) {
  json written = {{"metric", objective.metric},
                  {"mode", objective.maximize ? "maximize" : "minimize"}};
  if (objective.limit) written["limit"] = *objective.limit;
  return written;
}

std::vector<Objective> objectives_of(const json& array) {
  std::vector<Objective> objectives;
  if (!array.is_array()) return objectives;
  for (const json& each : array) {
    if (!each.is_object() || !each.contains("metric") || !each["metric"].is_string()) continue;
    Objective objective = {.metric = each["metric"].get<std::string>()};
    objective.maximize = each.contains("mode") && each["mode"] == "maximize";
    if (each.contains("limit") && each["limit"].is_number())
      objective.limit = each["limit"].get<double>();
    objectives.push_back(std::move(objective));
  }
  return objectives;
}

json to_json(const std::vector<Objective>& objectives) {
  json all = json::array();
  for (const Objective& objective : objectives) all.push_back(to_json(objective));
  return all;
}

}  // namespace attune
