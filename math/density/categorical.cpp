#include "math/density/categorical.h"

#include <algorithm>
#include <cmath>

#include "base/check.h"

namespace attune {

Categorical::Categorical(const WeightedPoints& observations, double categories, double prior_weight)
    : prior_weight_(prior_weight) {
  ATTUNE_CHECK(categories > 0 && prior_weight > 0);
  const auto& [points, weights] = observations;
  for (std::size_t i = 0; i < points.size();) {
    const double category = points[i];
    double weight = 0;
    for (; i < points.size() && points[i] == category; ++i) weight += weights[i];
    seen_.points.push_back(category);
    seen_.weights.push_back(weight);
  }
  for (const double weight : seen_.weights) observed_ += weight;
  total_ = observed_ + categories * prior_weight;
}

std::optional<double> Categorical::sample(Rng& rng) const {
  double u = rng.uniform() * total_;
  if (u >= observed_) return std::nullopt;
  for (std::size_t i = 0; i < seen_.points.size(); ++i) {
    u -= seen_.weights[i];
    if (u < 0) return seen_.points[i];
  }
  return seen_.points.back();  // rounding
}

double Categorical::weight(double category) const {
  const std::vector<double>& points = seen_.points;
  if (points.empty() || !(category >= points.front() && category <= points.back())) {
    return prior_weight_;
  }
  // First guesses the place that it has if all categories from the first one on were observed,
  // which is usual when there are few.
  const auto guess = std::min(static_cast<double>(points.size() - 1), category - points.front());
  auto i = static_cast<std::size_t>(guess);
  if (points[i] != category) {
    i = static_cast<std::size_t>(std::ranges::lower_bound(points, category) - points.begin());
  }
  return prior_weight_ + (points[i] == category ? seen_.weights[i] : 0);
}

double Categorical::log_density(double category) const {
  return std::log(weight(category) / total_);
}

void Categorical::heights(std::span<const double> categories, std::span<double> heights) const {
  std::ranges::transform(categories, heights.begin(), [this](double c) { return weight(c); });
}

}  // namespace attune
