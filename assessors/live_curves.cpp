#include "assessors/live_curves.h"

#include <algorithm>
#include <cmath>

#include "base/saved_numbers.h"
#include "rungs/resource.h"

namespace attune {

bool LiveCurves::append(Curve& curve, const Report& report) const {
  const auto number = static_cast<double>(curve.seen++);
  const auto step = step_attr_ ? metric_in(report.metrics, *step_attr_) : std::optional(number);
  const auto value = metric_in(report.metrics, objective_.metric);
  if (!step || !is_index(*step, kMostResource) || !value) return false;
  const auto at = std::ranges::lower_bound(curve.steps, *step);
  if (at != curve.steps.end() && *at == *step) return false;
  curve.values.insert(curve.values.begin() + (at - curve.steps.begin()), *value);
  curve.steps.insert(at, *step);
  curve.lowest = std::fmin(curve.lowest, *value);  // these ignore NaN
  curve.highest = std::fmax(curve.highest, *value);
  return true;
}

std::size_t LiveCurves::seen(TrialId trial) const {
  const auto found = curves_.find(trial);
  return found == curves_.end() ? 0 : found->second.seen;
}

std::optional<LiveCurves::Curve> LiveCurves::remove(TrialId trial) {
  auto node = curves_.extract(trial);
  if (!node) return std::nullopt;
  return std::move(node.mapped());
}

json LiveCurves::save() const {
  json state = json::array();
  for (const auto& [trial, curve] : curves_) {
    state.push_back({{"trial", trial},
                     {"seen", curve.seen},
                     {"steps", save_numbers(curve.steps)},
                     {"values", save_numbers(curve.values)}});
  }
  return state;
}

Result<LiveCurves> LiveCurves::loaded(const json& state) const {
  if (!state.is_array()) return fail("saved state: the curves of trials must be an array");
  LiveCurves curves(objective_, step_attr_);
  for (const json& item : state) {
    const auto [place, is_new] = curves.curves_.try_emplace(TRY(integer_at(item, "trial")));
    const std::int64_t seen = TRY(integer_at(item, "seen"));
    Curve& curve = place->second;
    curve.steps = TRY(numbers_at(item, "steps"));
    curve.values = TRY(numbers_at(item, "values"));
    const double end = step_attr_ ? kMostResource : static_cast<double>(seen);
    const auto is_step = [&](double x) { return is_index(x, end); };
    const bool ascend =
        std::ranges::adjacent_find(curve.steps, std::greater_equal<>()) == curve.steps.end();
    if (!is_new || seen < 0 || std::ssize(curve.steps) > seen ||
        curve.steps.size() != curve.values.size() || !ascend ||
        !std::ranges::all_of(curve.steps, is_step)) {
      return fail("saved state: an impossible curve of a trial");
    }
    curve.seen = static_cast<std::size_t>(seen);
    for (const double value : curve.values) {
      curve.lowest = std::fmin(curve.lowest, value);
      curve.highest = std::fmax(curve.highest, value);
    }
  }
  return curves;
}

bool opens_interval(std::span<const double> steps, std::int64_t warmup, std::int64_t interval) {
  if (steps.empty()) return false;
  const auto last = static_cast<std::int64_t>(steps.back());
  if (last < warmup) return false;
  const std::int64_t opening = last - (last - warmup) % interval;
  return steps.size() < 2 || steps[steps.size() - 2] < static_cast<double>(opening);
}

}  // namespace attune
