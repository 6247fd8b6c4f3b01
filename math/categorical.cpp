#include "math/categorical.h"

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

double Categorical::log_density(double category) const {
  const auto at = std::ranges::lower_bound(seen_.points, category) - seen_.points.begin();
  const auto i = static_cast<std::size_t>(at);
  const bool seen = i < seen_.points.size() && seen_.points[i] == category;
  return std::log((prior_weight_ + (seen ? seen_.weights[i] : 0)) / total_);
}

}  // namespace attune
