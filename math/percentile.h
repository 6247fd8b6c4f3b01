#pragma once
// Percentiles as numpy computes them (method "linear"), to the last bit.
#include "math/sorted_numbers.h"

namespace attune {

// Of `count` (at least 1) numbers, of which at(i) is the i-th in ascending order. `percent` in
// [0, 100]. Between a number and an infinite one the result is infinite or NaN.
template <class At>
double percentile(std::size_t count, double percent, At&& at) {
  const double place = static_cast<double>(count - 1) * (percent / 100);
  const auto below = static_cast<std::size_t>(place);
  const double share = place - static_cast<double>(below);
  const double low = at(below);
  if (share == 0) return low;
  const double high = at(below + 1);
  if (low == high) return low;  // the difference of infinities would be NaN
  // The nearer end counts as exact.
  const double step = high - low;
  return share < 0.5 ? low + step * share : high - step * (1 - share);
}

inline double percentile(const SortedNumbers& numbers, double percent) {
  return percentile(numbers.size(), percent, [&](std::size_t i) { return numbers[i]; });
}

}  // namespace attune
