#include "tuners/parts/curve_metrics.h"

#include <fmt/format.h>

#include <cmath>
#include <utility>

#include "base/standing.h"
#include "rungs/reason_text.h"
#include "rungs/resource.h"

namespace attune {

CurveMetrics::CurveMetrics(std::string attribute, const std::vector<Objective>& objectives)
    : attribute_(std::move(attribute)) {
  for (const Objective& each : objectives) (each.limit ? limits_ : objectives_).push_back(each);
}

std::optional<CurveMetrics::Progress> CurveMetrics::operator()(const Report& report) const {
  const auto resource = resource_of(report, attribute_);
  if (!resource) return std::nullopt;
  Progress progress{.resource = *resource, .result = {}};
  for (const Objective& objective : objectives_) {
    const auto loss = loss_in(report.metrics, objective);
    if (!loss) return std::nullopt;
    progress.result.push_back(*loss);
  }
  append_excesses(report.metrics, progress.result);
  return progress;
}

std::optional<std::vector<double>> CurveMetrics::operator()(const Outcome& outcome) const {
  if (!outcome.usable()) return std::nullopt;
  std::vector<double> result = {*outcome.loss};
  while (result.size() < objectives_.size()) {
    const auto loss = loss_in(outcome.metrics, objectives_[result.size()]);
    if (!loss || std::isnan(*loss)) return std::nullopt;
    result.push_back(*loss);
  }
  append_excesses(outcome.metrics, result);
  return result;
}

void CurveMetrics::append_excesses(const Metrics& metrics, std::vector<double>& result) const {
  for (const Objective& limit : limits_) {
    const auto value = metric_in(metrics, limit.metric);
    result.push_back(value && std::isfinite(*value) ? to_minimise(*value, limit) : 0);
  }
}

std::string CurveMetrics::text(const std::vector<double>& result) const {
  const double by = violation(result, objectives_.size());
  return by > 0 ? over_limits_text(by) : results_text(objectives_, result);
}

std::string CurveMetrics::not_finite_text(double resource) const {
  if (objectives_.size() == 1) {
    return attune::not_finite_text(attribute_, resource, objectives_[0].metric);
  }
  return fmt::format("{} {:.6g}: one of the objectives is not finite", attribute_, resource);
}

}  // namespace attune
