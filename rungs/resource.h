#pragma once
// How much of its resource (epochs, seconds, samples, ...) a trial had used at a report.
#include <algorithm>
#include <cmath>
#include <optional>
#include <string>

#include "base/trial.h"

namespace attune {

inline constexpr const char* kTrainingIteration = "training_iteration";

// The metric `attribute` of the report. If the trial does not report `training_iteration`, its
// reports are counted: step 0 is iteration 1. Nothing: the metric is missing, not finite or
// negative; no rule can place such a report.
inline std::optional<double> resource_of(const Report& report, const std::string& attribute) {
  const auto found = std::ranges::find(report.metrics, attribute, &Metrics::value_type::first);
  if (found == report.metrics.end()) {
    if (attribute != kTrainingIteration) return std::nullopt;
    return static_cast<double>(report.step + 1);
  }
  if (!std::isfinite(found->second) || found->second < 0) return std::nullopt;
  return found->second;
}

}  // namespace attune
