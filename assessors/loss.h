#pragma once
// Turns results into losses: lower is better, whatever the objective's direction.
#include <algorithm>
#include <cmath>
#include <limits>

#include "base/trial.h"

namespace attune {

// -1 for an objective that is maximised, else 1. The same factor turns a loss back into the metric.
inline double sign_of(const Objective& objective) { return objective.maximize ? -1 : 1; }

// NaN when the report lacks the objective's metric, or its value is not finite.
inline double loss_of(const Report& report, const Objective& objective) {
  const auto found =
      std::ranges::find(report.metrics, objective.metric, &Metrics::value_type::first);
  const bool usable = found != report.metrics.end() && std::isfinite(found->second);
  return usable ? sign_of(objective) * found->second : std::numeric_limits<double>::quiet_NaN();
}

}  // namespace attune
