#include "base/objective_json.h"

namespace attune {

json to_json(const Objective& objective) {
  json written = {{"metric", objective.metric},
                  {"mode", objective.maximize ? "maximize" : "minimize"}};
  if (objective.limit) written["limit"] = *objective.limit;
  return written;
}

json to_json(const std::vector<Objective>& objectives) {
  json all = json::array();
  for (const Objective& objective : objectives) all.push_back(to_json(objective));
  return all;
}

}  // namespace attune
