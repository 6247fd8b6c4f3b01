#include "manager/trials/result_watch.h"

#include <fmt/format.h>

namespace attune {
namespace {

// Names the metrics that a result has instead of the objective, and how to declare one of them as
// the objective.
std::string other_metrics(const json& value) {
  std::vector<std::string> names;
  if (value.is_object()) {
    for (const auto& [name, number] : value.items()) {
      if (number.is_number()) names.push_back(name);
    }
  }
  if (names.empty()) return "";
  return fmt::format("; the trials report {}: write `objectives: [{{metric: {}}}]`",
                     fmt::join(names, ", "), names.front());
}

}  // namespace

std::optional<Standing> ResultWatch::take(const TrialRecord& trial) {
  auto standing = standing_of(trial.final_metric, objectives_);
  if (standing) {
    ++scored_;
    return standing;
  }
  silent_ += is_silent(trial.final_metric, objectives_) ? 1 : 0;
  const bool none = trial.final_metric.is_null();
  if (!trial.score(objectives_.front().metric))
    reported_instead_ = other_metrics(none ? trial.last_metric : trial.final_metric);
  return std::nullopt;
}

std::string ResultWatch::wanted_result() const {
  return fmt::format("a final metric with a finite {} is wanted, {}{}",
                     missing_metrics(nullptr, objectives_), place_, reported_instead_);
}

}  // namespace attune
