#include "rungs/sync_brackets_sizes.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace attune {

std::vector<RungSizes> geometric_brackets(std::int64_t min, std::int64_t max, double factor,
                                          std::optional<std::size_t> most) {
  // How many rungs lie below max. Syne Tune divides logarithms, and fails where these are not
  // exact: log 125 / log 5 is above 3.
  int below = 0;
  while (static_cast<double>(min) * std::pow(factor, below) < static_cast<double>(max)) ++below;
  std::vector<RungSizes> brackets;
  const std::size_t all = static_cast<std::size_t>(below) + 1;
  for (std::size_t b = 0; b < std::min(most.value_or(all), all); ++b) {
    const int rungs = below - static_cast<int>(b);
    const double share = static_cast<double>(all) / (rungs + 1);
    RungSizes sizes;
    for (int r = 0; r < rungs; ++r) {
      const double level = static_cast<double>(min) * std::pow(factor, r + static_cast<int>(b));
      // nearbyint() rounds half to even in the default rounding mode, as Python's round().
      const auto rounded = static_cast<std::int64_t>(std::nearbyint(level));
      if (rounded >= max) continue;  // a level just below max, rounded up
      const double slots = std::ceil(share * std::pow(factor, rungs - r));
      sizes.push_back({static_cast<std::size_t>(slots), rounded});
    }
    sizes.push_back({static_cast<std::size_t>(std::ceil(share)), max});
    brackets.push_back(std::move(sizes));
  }
  return brackets;
}

std::vector<RungSizes> nested_brackets(const RungSizes& first, std::size_t most) {
  std::vector<RungSizes> brackets;
  for (std::size_t b = 0; b < std::min(most, first.size()); ++b) {
    brackets.emplace_back(first.begin() + static_cast<std::ptrdiff_t>(b), first.end());
  }
  return brackets;
}

std::vector<std::size_t> best_slots(std::span<const double> losses, std::size_t count) {
  std::vector<std::size_t> order(losses.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, [&](std::size_t a, std::size_t b) {
    if (std::isnan(losses[a]) || std::isnan(losses[b]))
      return std::isnan(losses[b]) && !std::isnan(losses[a]);
    return losses[a] < losses[b];
  });
  order.resize(std::min(count, order.size()));
  return order;
}

}  // namespace attune
