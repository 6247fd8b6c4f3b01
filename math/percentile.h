#pragma once
// Percentiles as numpy computes them (method "linear"), to the last bit.
#include "math/sorted_numbers.h"

namespace attune {

// `percent` in [0, 100]; there is at least one number. Between a number and an infinite one the
// result is infinite or NaN.
inline double percentile(const SortedNumbers& numbers, double percent) {
  const double at = static_cast<double>(numbers.size() - 1) * (percent / 100);
  const auto below = static_cast<std::size_t>(at);
  const double share = at - static_cast<double>(below);
  const double low = numbers[below];
  if (share == 0) return low;
  const double high = numbers[below + 1];
  if (low == high) return low;  // the difference of infinities would be NaN
  // The nearer end counts as exact.
  const double step = high - low;
  return share < 0.5 ? low + step * share : high - step * (1 - share);
}

}  // namespace attune
