#include "math/density/ranked_values.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/check.h"

namespace attune {
namespace {

// From so many values on, insert_all() sorts instead of inserting one by one.
constexpr std::size_t kWorthSorting = 32;

std::size_t place_after(const std::vector<double>& ascending, double x) {
  return static_cast<std::size_t>(std::ranges::upper_bound(ascending, x) - ascending.begin());
}

// The positions [from, to) of values equal to x.
std::pair<std::ptrdiff_t, std::ptrdiff_t> equal_values(const std::vector<double>& ascending,
                                                       double x) {
  const auto equal = std::ranges::equal_range(ascending, x);
  return {equal.begin() - ascending.begin(), equal.end() - ascending.begin()};
}

// The weight by rank: a line that rises from 1/k to 1, then 1.
struct Weights {
  Weights(std::size_t k, std::size_t forgetting) {
    const std::size_t ramp = k > forgetting ? k - forgetting : 0;
    if (ramp > 0) lowest = 1 / static_cast<double>(k);
    if (ramp > 1) slope = (1 - lowest) / static_cast<double>(ramp - 1);
  }
  double operator()(std::size_t rank) const {
    return std::min(1.0, lowest + static_cast<double>(rank) * slope);
  }
  double lowest = 1, slope = 1;
};

}  // namespace

void RankedValues::insert(double value, double loss) {
  const auto rank = static_cast<std::uint32_t>(place_after(losses_, loss));
  losses_.insert(losses_.begin() + rank, loss);
  for (std::uint32_t& other : ranks_) other += other >= rank ? 1 : 0;

  // Among equal values the ranks ascend: the order must follow from the content alone, so that a
  // restored object behaves in the same way.
  const auto [from, to] = equal_values(values_, value);
  const auto at =
      std::lower_bound(ranks_.begin() + from, ranks_.begin() + to, rank) - ranks_.begin();
  values_.insert(values_.begin() + at, value);
  ranks_.insert(ranks_.begin() + at, rank);
}

void RankedValues::insert_all(std::span<const double> values, std::span<const double> losses) {
  ATTUNE_CHECK(values.size() == losses.size());
  if (values.size() < kWorthSorting) {
    for (std::size_t i = 0; i < values.size(); ++i) insert(values[i], losses[i]);
    return;
  }
  std::vector<double> all = values_by_loss();
  all.insert(all.end(), values.begin(), values.end());
  losses_.insert(losses_.end(), losses.begin(), losses.end());
  std::vector<std::uint32_t> order(all.size());
  std::iota(order.begin(), order.end(), 0u);
  std::ranges::stable_sort(order, {}, [this](std::uint32_t i) { return losses_[i]; });
  std::vector<double> ordered(all.size());
  for (std::size_t i = 0; i < all.size(); ++i) ordered[i] = all[order[i]];
  std::ranges::sort(losses_);
  *this = restore(ordered, std::move(losses_));
}

std::vector<double> RankedValues::values_by_loss() const {
  std::vector<double> ordered(size());
  for (std::size_t i = 0; i < size(); ++i) ordered[ranks_[i]] = values_[i];
  return ordered;
}

RankedValues RankedValues::restore(std::span<const double> values_by_loss,
                                   std::vector<double> losses) {
  ATTUNE_CHECK(values_by_loss.size() == losses.size() && std::ranges::is_sorted(losses));
  RankedValues restored;
  restored.losses_ = std::move(losses);
  restored.ranks_.resize(values_by_loss.size());
  std::iota(restored.ranks_.begin(), restored.ranks_.end(), 0u);
  std::ranges::stable_sort(restored.ranks_, {},
                           [&](std::uint32_t rank) { return values_by_loss[rank]; });
  for (const std::uint32_t rank : restored.ranks_) {
    restored.values_.push_back(values_by_loss[rank]);
  }
  return restored;
}

void split(const RankedValues& observed, std::span<const PendingValue> pending, double lie,
           const SplitRule& rule, Split& result) {
  const std::size_t n = observed.size() + pending.size();
  const std::size_t below = std::min(
      {n, rule.forgetting,
       static_cast<std::size_t>(std::ceil(rule.gamma * std::sqrt(static_cast<double>(n))))});
  const Weights below_weight(below, rule.forgetting);
  const Weights above_weight(n - below, rule.forgetting);
  result.below.points.clear();
  result.below.weights.clear();
  result.above.points.resize(n - below);
  result.above.weights.resize(n - below);
  double* point = result.above.points.data();
  double* weight = result.above.weights.data();
  const auto put = [&](double value, std::size_t rank) {
    if (rank < below) {
      result.below.points.push_back(value);
      result.below.weights.push_back(below_weight(rank));
    } else {
      *point++ = value;
      *weight++ = above_weight(rank - below);
    }
  };

  // Observations with a rank of lie_rank or more come after all pending values.
  const auto& values = observed.values();
  const auto& ranks = observed.ranks();
  const std::size_t lie_rank = place_after(observed.losses(), lie);
  std::size_t next = 0;
  const auto put_observed = [&](std::size_t end) {
    for (; next < end; ++next) {
      put(values[next], ranks[next] + (ranks[next] >= lie_rank ? pending.size() : 0));
    }
  };
  for (const PendingValue& waiting : pending) {
    const auto [from, to] = equal_values(values, waiting.value);
    const auto tie = std::lower_bound(ranks.begin() + from, ranks.begin() + to, lie_rank);
    put_observed(static_cast<std::size_t>(tie - ranks.begin()));
    put(waiting.value, lie_rank + waiting.order);
  }
  put_observed(values.size());
}

}  // namespace attune
