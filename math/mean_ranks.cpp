#include "math/mean_ranks.h"

#include <algorithm>
#include <cstddef>
#include <numeric>

namespace attune {

std::vector<double> mean_ranks(std::span<const double> numbers) {
  std::vector<std::size_t> order(numbers.size());
  std::iota(order.begin(), order.end(), 0);
  std::ranges::stable_sort(order, {}, [&](std::size_t i) { return numbers[i]; });
  std::vector<double> ranks(numbers.size());
  for (std::size_t first = 0, end = 0; first < order.size(); first = end) {
    while (end < order.size() && numbers[order[end]] == numbers[order[first]]) ++end;
    const double mean = static_cast<double>(first + 1 + end) / 2;
    for (std::size_t k = first; k < end; ++k) ranks[order[k]] = mean;
  }
  return ranks;
}

}  // namespace attune
