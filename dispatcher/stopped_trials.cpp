#include "dispatcher/stopped_trials.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "assessors/report_forecast.h"
#include "dispatcher/metrics.h"

namespace attune {
namespace {

constexpr std::array<std::string_view, 4> kNames = {"ignore", "last", "worst", "extrapolated"};

void set_metric(Metrics& metrics, const std::string& name, double value) {
  const auto found = std::ranges::find(metrics, name, &Metrics::value_type::first);
  if (found == metrics.end()) {
    metrics.emplace_back(name, value);
  } else {
    found->second = value;
  }
}

// The number of reports of a full training.
double full_length(const StoppedRule& rule, std::span<const Report> reports, std::size_t longest) {
  if (!rule.fidelity) return static_cast<double>(longest);
  const auto max = static_cast<double>(rule.fidelity->max);
  const auto resource = finite_metric(reports.back().metrics, rule.fidelity->metric);
  if (!resource || *resource <= 0) return max;
  return static_cast<double>(reports.size()) * max / *resource;
}

}  // namespace

std::span<const std::string_view> names_of_stopped_trials() { return kNames; }

std::optional<StoppedTrials> parse_stopped_trials(std::string_view name) {
  const auto found = std::ranges::find(kNames, name);
  if (found == kNames.end()) return std::nullopt;
  return static_cast<StoppedTrials>(found - kNames.begin());
}

std::string_view name_of(StoppedTrials what) { return kNames.at(static_cast<std::size_t>(what)); }

Metrics expected_end(const StoppedRule& rule, std::span<const Report> reports,
                     std::size_t longest) {
  Metrics metrics = reports.back().metrics;
  const double target = full_length(rule, reports, longest);
  if (rule.assume != StoppedTrials::extrapolated || target <= static_cast<double>(reports.size())) {
    return metrics;
  }
  for (const Objective& objective : rule.objectives) {
    if (objective.limit) continue;
    const auto forecast = forecast_reports(reports, objective, target);
    if (!forecast || !std::isfinite(forecast->mean())) continue;
    set_metric(metrics, objective.metric, (objective.maximize ? -1 : 1) * forecast->mean());
  }
  return metrics;
}

void StandIns::Bounds::include(double value) {
  low = std::min(low, value);
  high = std::max(high, value);
}

void StandIns::add(const Outcome& outcome) {
  if (!outcome.is_result()) return;
  for (std::size_t i = 0; i < bounds_.size(); ++i) {
    const auto value = finite_metric(outcome.metrics, rule_.objectives[i].metric);
    if (value) bounds_[i].include(*value);
  }
}

Metrics StandIns::operator()(const Metrics& last, const Metrics& expected) const {
  if (rule_.assume == StoppedTrials::ignore) return {};
  Metrics metrics = expected;
  if (rule_.assume == StoppedTrials::last) return metrics;
  for (std::size_t i = 0; i < bounds_.size(); ++i) {
    const Objective& objective = rule_.objectives[i];
    if (objective.limit) continue;
    Bounds bounds = bounds_[i];
    if (const auto own = finite_metric(last, objective.metric)) bounds.include(*own);
    if (bounds.low > bounds.high) continue;
    const auto predicted = finite_metric(expected, objective.metric);
    if (rule_.assume == StoppedTrials::worst) {
      set_metric(metrics, objective.metric, objective.maximize ? bounds.low : bounds.high);
    } else if (predicted) {
      set_metric(metrics, objective.metric, std::clamp(*predicted, bounds.low, bounds.high));
    }
  }
  return metrics;
}

}  // namespace attune
