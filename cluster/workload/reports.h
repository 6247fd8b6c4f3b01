#pragma once
// What a commander reads in the infos of its tasks. Programs may report anything: what does not fit
// is no report, no metric, no games.
#include <optional>
#include <string>

#include "base/json.h"

namespace attune {

struct TaskReport {
  bool final = false;
  json value;  // a number or an object
};
std::optional<TaskReport> report_of(const json& info);

// A finite number: the value itself, or its member `metric`, or else its member "default".
std::optional<double> metric_of(const json& value, const std::string& metric);

struct Games {
  double wins = 0, draws = 0, losses = 0;

  bool operator==(const Games&) const = default;
};
// {"wins": 3, "draws": 1, "losses": 2}, none of them negative, those that are missing 0; or
// {"outcome": "win"}; or {"outcome": ["win", "draw", "loss", ...]}, one per episode. Absent: none
// was played.
std::optional<Games> games_of(const json& value);

}  // namespace attune
