#pragma once
// What a rule with levels reads of a report: how much of its resource (epochs, seconds, samples,
// ...) the trial had used, and its loss.
#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <string>

#include "base/trial.h"

namespace attune {

inline constexpr const char* kTrainingIteration = "training_iteration";

// Up to here doubles count every whole number. No trial uses more of anything, and sums of
// resources stay finite.
inline constexpr double kMostResource = 9007199254740992;

// The value of the metric; nothing: it is missing.
inline std::optional<double> metric_in(const Metrics& metrics, const std::string& name) {
  const auto found = std::ranges::find(metrics, name, &Metrics::value_type::first);
  return found == metrics.end() ? std::nullopt : std::optional(found->second);
}

// The metric `attribute` of the report. If the trial does not report `training_iteration`, its
// reports are counted: step 0 is iteration 1. Nothing: the metric is missing, not finite, negative
// or above kMostResource; no rule can place such a report.
inline std::optional<double> resource_of(const Report& report, const std::string& attribute) {
  const auto said = metric_in(report.metrics, attribute);
  if (!said) {
    if (attribute != kTrainingIteration) return std::nullopt;
    return static_cast<double>(report.step + 1);
  }
  return *said >= 0 && *said <= kMostResource ? said : std::nullopt;
}

// The metric of the objective, which has no limit, as a loss; NaN: it is not finite. Nothing: it is
// missing.
inline std::optional<double> loss_in(const Metrics& metrics, const Objective& objective) {
  const auto value = metric_in(metrics, objective.metric);
  if (!value) return std::nullopt;
  if (!std::isfinite(*value)) return std::numeric_limits<double>::quiet_NaN();
  return objective.maximize ? -*value : *value;
}

// How far a trial is, and its loss there; NaN: the loss is not finite.
struct Progress {
  double resource = 0;
  double loss = 0;
};
// Nothing: the report lacks one of the two.
inline std::optional<Progress> progress_of(const Report& report, const std::string& attribute,
                                           const Objective& objective) {
  const auto resource = resource_of(report, attribute);
  const auto loss = loss_in(report.metrics, objective);
  if (!resource || !loss) return std::nullopt;
  return Progress{*resource, *loss};
}

}  // namespace attune
