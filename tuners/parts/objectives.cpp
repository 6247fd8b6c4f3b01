#include "tuners/parts/objectives.h"

#include <algorithm>
#include <cmath>

#include "math/pareto.h"
#include "rungs/resource.h"

namespace attune {
namespace {

// to_minimise() of the objective's metric; nothing if the metric is missing or not finite.
std::optional<double> reported(const Outcome& outcome, const Objective& objective) {
  const auto value = metric_in(outcome.metrics, objective.metric);
  if (!value || !std::isfinite(*value)) return std::nullopt;
  return to_minimise(*value, objective);
}

}  // namespace

Objectives::Objectives(const Context& context) {
  // The first objective is the loss of each outcome.
  for (std::size_t i = 1; i < context.objectives.size(); ++i) {
    const Objective& objective = context.objectives[i];
    (objective.limit ? limited_ : optimised_).push_back(objective);
  }
}

std::optional<std::vector<double>> Objectives::operator()(const Outcome& outcome) const {
  if (!outcome.usable()) return std::nullopt;
  std::vector<double> values = {*outcome.loss};
  values.reserve(size() + limits());
  for (const auto* group : {&optimised_, &limited_}) {
    for (const Objective& objective : *group) {
      const auto value = reported(outcome, objective);
      if (!value) return std::nullopt;
      values.push_back(*value);
    }
  }
  return values;
}

std::vector<std::size_t> ranking(std::span<const double> results, std::size_t objectives,
                                 std::size_t limits) {
  const std::size_t width = objectives + limits, n = results.size() / width;
  if (limits == 0) return crowded_order(results, objectives);
  std::vector<std::size_t> kept, broken;
  std::vector<double> rows, violations;
  for (std::size_t i = 0; i < n; ++i) {
    const auto result = results.subspan(i * width, width);
    violations.push_back(violation(result, objectives));
    if (violations.back() > 0) {
      broken.push_back(i);
    } else {
      kept.push_back(i);
      rows.insert(rows.end(), result.begin(),
                  result.begin() + static_cast<std::ptrdiff_t>(objectives));
    }
  }
  std::vector<std::size_t> order;
  for (const std::size_t i : crowded_order(rows, objectives)) order.push_back(kept[i]);
  std::ranges::stable_sort(broken, {}, [&](std::size_t i) { return violations[i]; });
  order.insert(order.end(), broken.begin(), broken.end());
  return order;
}

}  // namespace attune
