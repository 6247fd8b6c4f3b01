#include "manager/trials/tuning_status.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace attune {

Metrics metrics_of(const json& value, const std::string& objective) {
  Metrics metrics;
  const auto add = [&](const std::string& name, const json& number) {
    if (number.is_number()) metrics.emplace_back(name, number.get<double>());
    if (number.is_boolean()) metrics.emplace_back(name, number.get<bool>() ? 1 : 0);
  };
  if (value.is_object()) {
    for (const auto& [name, number] : value.items()) add(name, number);
  } else {
    add(objective, value);
  }
  return metrics;
}

void TuningStatus::on_report(const std::string& job_id, const Metrics& metrics, double seconds) {
  ++evaluations_;
  trial_seconds_ += seconds;
  for (const auto& [name, value] : metrics) {
    if (std::isnan(value)) continue;
    MetricStatistics& statistics = metrics_[name];
    statistics.min = std::min(statistics.min, value);
    statistics.max = std::max(statistics.max, value);
    statistics.sum += value;
    statistics.last = value;
    ++statistics.count;
    if (name != "cost") continue;
    double& cost = cost_of_[job_id];
    live_cost_ += std::max(value - cost, 0.0);
    cost = std::max(cost, value);
  }
}

void TuningStatus::on_end(const std::string& job_id) {
  const auto cost = cost_of_.extract(job_id);
  if (!cost) return;
  live_cost_ -= cost.mapped();
  ended_cost_ += cost.mapped();
}

void TuningStatus::on_score(const Standing& standing, bool maximize, const StopRules& rules) {
  const bool kept = standing.violation == 0;
  if (!kept && !best_) return;
  const double tolerance = rules.plateau ? rules.plateau->tolerance : 0;
  const double score = maximize ? -standing.values.front() : standing.values.front();
  const bool better =
      kept && (!best_ || (maximize ? score > *best_ + tolerance : score < *best_ - tolerance));
  since_best_ = better ? 0 : since_best_ + 1;
  // An improvement within the tolerance does not move best_, so that each result is compared with
  // the last real improvement, and not with the result before it.
  if (better) best_ = score;
}

const MetricStatistics* TuningStatus::metric(const std::string& name) const {
  const auto found = metrics_.find(name);
  return found == metrics_.end() ? nullptr : &found->second;
}

std::optional<std::string> StopRules::met(const TuningStatus& status) const {
  const auto over = [](const auto& limit, auto value) { return limit && value > *limit; };
  if (over(max_trial_seconds, status.trial_seconds()))
    return fmt::format("the trials have run for {:.6g} s in sum", status.trial_seconds());
  if (over(max_cost, status.cost()))
    return fmt::format("the trials have cost {:.6g}", status.cost());
  if (over(max_started, status.started()))
    return fmt::format("{} trials started", status.started());
  if (over(max_completed, status.completed()))
    return fmt::format("{} trials completed", status.completed());
  if (over(max_finished, status.finished()))
    return fmt::format("{} trials finished", status.finished());
  if (over(max_evaluations, status.evaluations()))
    return fmt::format("{} results reported", status.evaluations());
  if (over(max_failed, status.failed())) return fmt::format("{} trials failed", status.failed());
  const auto reached = [&](const std::map<std::string, double>& limits,
                           auto&& holds) -> std::optional<std::string> {
    for (const auto& [name, limit] : limits) {
      const MetricStatistics* metric = status.metric(name);
      if (metric == nullptr || metric->count == 0 || !holds(*metric, limit)) continue;
      return fmt::format("{} has reached {:.6g}", name, limit);
    }
    return std::nullopt;
  };
  using Statistics = MetricStatistics;
  if (auto why = reached(max_metric, [](const Statistics& m, double l) { return m.max > l; }))
    return why;
  if (auto why = reached(min_metric, [](const Statistics& m, double l) { return m.min < l; }))
    return why;
  if (auto why = reached(reach_up, [](const Statistics& m, double l) { return m.max >= l; }))
    return why;
  if (auto why = reached(reach_down, [](const Statistics& m, double l) { return m.min <= l; }))
    return why;
  if (plateau && status.scores_since_best() >= plateau->trials)
    return fmt::format("no better trial among the last {}", status.scores_since_best());
  return std::nullopt;
}

}  // namespace attune
