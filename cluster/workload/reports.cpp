#include "cluster/workload/reports.h"

#include <array>
#include <cmath>
#include <utility>

namespace attune {
namespace {

constexpr double kMostGames = 1e9;  // of one report; sums stay exact

std::optional<double> finite(const json& value) {
  if (!value.is_number() || !std::isfinite(value.get<double>())) return std::nullopt;
  return value.get<double>();
}

bool add_outcome(Games& games, const json& outcome) {
  constexpr std::array kOutcomes = {std::pair{"win", &Games::wins},
                                    std::pair{"draw", &Games::draws},
                                    std::pair{"loss", &Games::losses}};
  for (const auto& [name, count] : kOutcomes) {
    if (outcome != name) continue;
    games.*count += 1;
    return true;
  }
  return false;
}

}  // namespace

std::optional<TaskReport> report_of(const json& info) {
  if (!info.is_object() || info.value("event", json()) != "report") return std::nullopt;
  const auto value = info.find("value");
  if (value == info.end()) return std::nullopt;
  return TaskReport{info.value("type", json()) == "FINAL", *value};
}

std::optional<double> metric_of(const json& value, const std::string& metric) {
  if (!value.is_object()) return finite(value);
  const auto named = value.find(metric);
  return finite(named != value.end() ? *named : value.value("default", json()));
}

std::optional<Games> games_of(const json& value) {
  if (!value.is_object()) return std::nullopt;
  Games games;
  if (const auto outcome = value.find("outcome"); outcome != value.end()) {
    const json list = outcome->is_array() ? *outcome : json::array({*outcome});
    for (const json& each : list) {
      if (!add_outcome(games, each)) return std::nullopt;
    }
  } else {
    constexpr std::array kCounts = {std::pair{"wins", &Games::wins},
                                    std::pair{"draws", &Games::draws},
                                    std::pair{"losses", &Games::losses}};
    for (const auto& [name, count] : kCounts) {
      if (!value.contains(name)) continue;
      const auto number = finite(value[name]);
      if (!number || *number < 0 || *number > kMostGames) return std::nullopt;
      games.*count = *number;
    }
  }
  if (games == Games{}) return std::nullopt;
  return games;
}

}  // namespace attune
