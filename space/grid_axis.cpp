#include "space/grid_axis.h"

#include <cmath>
#include <concepts>

#include "base/check.h"
#include "space/combinations.h"
#include "space/scale.h"

namespace attune {
namespace {

// Unlike value_at, infinite where the quantile is: -inf and inf are ends, not values.
template <class Real>
double grid_value(const Real& domain, double p) {
  const double x = quantile(domain, p);
  if constexpr (std::same_as<Real, Normal>) {
    if (std::isinf(x)) return natural(domain, x);
  }
  return value_at(domain, x);
}

template <class Real>
double steps(const Real& domain, double left, double right) {
  return multiple_of(*domain.q, natural(domain, quantile(domain, right))) -
         multiple_of(*domain.q, natural(domain, quantile(domain, left)));
}

}  // namespace

GridAxis::GridAxis(const Domain& domain) {
  if (const auto* choice = std::get_if<Choice>(&domain)) {
    for (std::size_t i = 0; i < choice->canonical.size(); ++i) {
      if (choice->canonical[i] == i) candidates_.push_back(i);
    }
    size_ = candidates_.size();
  } else if (const auto* subset = std::get_if<Subset>(&domain)) {
    size_ = binomial(subset->candidates.size(), subset->chosen);
  } else if (const auto* range = std::get_if<IntRange>(&domain)) {
    size_ = static_cast<std::uint64_t>(range->high - range->low);
  } else {
    const auto median = [this](const auto& real) {
      values_.push_back(value_at(real, quantile(real, 0.5)));
      keep(real, {0, 0.5});
      keep(real, {0.5, 1});
    };
    if (const auto* uniform = std::get_if<Uniform>(&domain)) median(*uniform);
    if (const auto* normal = std::get_if<Normal>(&domain)) median(*normal);
    size_ = values_.size();
  }
}

double GridAxis::value(const Domain& domain, std::uint64_t k) const {
  ATTUNE_CHECK(k < size_);
  if (const auto* subset = std::get_if<Subset>(&domain)) {
    return static_cast<double>(nth_subset(subset->candidates.size(), subset->chosen, k));
  }
  if (const auto* range = std::get_if<IntRange>(&domain)) {
    return static_cast<double>(range->low + static_cast<std::int64_t>(k));
  }
  return std::holds_alternative<Choice>(domain) ? static_cast<double>(candidates_[k]) : values_[k];
}

bool GridAxis::split(const Domain& domain) {
  std::vector<Interval> old;
  old.swap(intervals_);
  for (const Interval& interval : old) {
    if (const auto* uniform = std::get_if<Uniform>(&domain)) halve(*uniform, interval);
    if (const auto* normal = std::get_if<Normal>(&domain)) halve(*normal, interval);
  }
  const bool grown = values_.size() > size_;
  if (!values_.empty()) size_ = values_.size();
  return grown;
}

template <class Real>
void GridAxis::halve(const Real& domain, const Interval& interval) {
  const auto [left, right] = interval;
  const double middle = (left + right) / 2;
  const double value = grid_value(domain, middle);
  // The middle is new unless it rounds to a visited end; 0 and 1 are ends but not visited.
  const bool above = grid_value(domain, left) < value || left == 0;
  const bool below = value < grid_value(domain, right) || right == 1;
  if (above && below && std::isfinite(value)) values_.push_back(value);
  // Neighbouring doubles have no middle: then the half that keep() gets is empty, and is dropped.
  if (middle < right) keep(domain, {left, middle});
  if (left < middle) keep(domain, {middle, right});
}

template <class Real>
void GridAxis::keep(const Real& domain, const Interval& interval) {
  const auto [left, right] = interval;
  if (!(grid_value(domain, left) < grid_value(domain, right))) return;
  // Both ends visited and nothing between them. NNI keeps halving such intervals in vain.
  if (domain.q && left != 0 && right != 1 && steps(domain, left, right) < 2) return;
  intervals_.push_back(interval);
}

}  // namespace attune
