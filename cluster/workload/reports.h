#pragma once
// Parses what programs report to a commander. Programs may report anything: what has another form
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

// A finite number: the value itself, or its member `metric`, or, if that is missing, its member
// "default".
std::optional<double> metric_of(const json& value, const std::string& metric);

struct Games {
  double wins = 0, draws = 0, losses = 0;

  bool operator==(const Games&) const = default;
};
// {"wins": 3, "draws": 1, "losses": 2}, none of them negative, missing ones 0; or {"outcome":
// "win"}; or {"outcome": ["win", "draw", "loss", ...]}, one for each episode. Absent: no game was
// played, or the value has another form.
std::optional<Games> games_of(const json& value);

}  // namespace attune
