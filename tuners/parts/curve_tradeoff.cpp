#include "tuners/parts/curve_tradeoff.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/standing.h"
#include "tuners/parts/objectives.h"

namespace attune {
namespace {

// Knowles' weight of the sum beside the largest distance.
constexpr double kSum = 0.05;
// As in math/gp/straighten.h: how bad a bad result is says nothing about good ones.
constexpr double kMostSpreads = 10;
// A result that breaks a limit is worse than the worst one that keeps all by one deviation, and by
// one more for each typical violation, up to so many. How far it is behind says nothing about those
// that keep it, and would make them look alike.
constexpr double kMostViolations = 3;

}  // namespace

// A loss alone is sorted, which costs less.
std::vector<std::size_t> ranking(std::span<const double> results, const CurveShape& shape) {
  if (!shape.is_loss()) return ranking(results, shape.objectives, shape.limits);
  std::vector<std::size_t> order(results.size());
  std::iota(order.begin(), order.end(), 0);
  std::ranges::stable_sort(order, {}, [&](std::size_t i) { return results[i]; });
  return order;
}

CurveTradeoff::CurveTradeoff(CurveShape shape)
    : shape_(shape),
      weights_(shape.objectives, 1.0 / static_cast<double>(shape.objectives)),
      scales_(shape.objectives) {}

void CurveTradeoff::set_weights(std::span<const double> weights) {
  weights_.assign(weights.begin(), weights.end());
}

CurveTradeoff::Scale CurveTradeoff::scale_of(std::vector<double> values) {
  std::ranges::sort(values);
  const double median = values[(values.size() - 1) / 2];
  const double spread = median - values[(values.size() - 1) / 4];
  Scale scale{.best = values[0], .most = values.back()};
  if (spread > 0) scale.most = std::min(scale.most, median + kMostSpreads * spread);
  double mean = 0, squares = 0;
  const auto n = static_cast<double>(values.size());
  for (double& value : values) {
    value = std::min(value, scale.most) - scale.best;
    mean += value / n;
  }
  for (const double value : values) squares += (value - mean) * (value - mean) / n;
  if (squares > 0) scale.unit = std::sqrt(squares);
  return scale;
}

void CurveTradeoff::set_scale(std::span<const double> results) {
  if (shape_.is_loss()) return;
  const std::size_t width = shape_.width();
  const auto result_at = [&](std::size_t i) { return results.subspan(i * width, width); };
  std::vector<std::size_t> kept;
  std::vector<double> violations;
  for (std::size_t i = 0; i * width < results.size(); ++i) {
    const double by = violation(result_at(i), shape_.objectives);
    if (by > 0) violations.push_back(by);
    if (by == 0) kept.push_back(i);
  }
  typical_violation_ = 1;
  if (!violations.empty()) {
    const auto middle = violations.begin() + static_cast<std::ptrdiff_t>(violations.size() / 2);
    std::ranges::nth_element(violations, middle);
    typical_violation_ = *middle;
  }
  any_kept_ = !kept.empty();
  if (!any_kept_) return;
  for (std::size_t k = 0; k < shape_.objectives; ++k) {
    std::vector<double> values;
    for (const std::size_t i : kept) values.push_back(result_at(i)[k]);
    scales_[k] = scale_of(std::move(values));
  }
  worst_kept_ = 0;
  for (const std::size_t i : kept) worst_kept_ = std::max(worst_kept_, distance(result_at(i)));
}

double CurveTradeoff::distance(std::span<const double> result) const {
  double largest = 0, sum = 0;
  for (std::size_t k = 0; k < shape_.objectives; ++k) {
    const auto& [best, most, unit] = scales_[k];
    const double away = weights_[k] * (std::min(result[k], most) - best) / unit;
    largest = k == 0 ? away : std::max(largest, away);
    sum += away;
  }
  return largest + kSum * sum;
}

double CurveTradeoff::operator()(std::span<const double> result) const {
  if (shape_.is_loss()) return result[0];
  const double by = violation(result, shape_.objectives);
  if (by == 0 && any_kept_) return distance(result);
  const double violations = std::min(by / typical_violation_, CurveResults::kLargest);
  if (!any_kept_) return violations;
  return worst_kept_ + 1 + std::min(violations, kMostViolations);
}

}  // namespace attune
