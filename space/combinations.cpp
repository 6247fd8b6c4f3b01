#include "space/combinations.h"

#include "base/check.h"

namespace attune {

std::uint64_t binomial(std::size_t n, std::size_t k) {
  if (k > n) return 0;
  // Exact at each step: the product of i consecutive numbers is divisible by i!. The largest
  // intermediate for n = 52 is below 2^55.
  std::uint64_t result = 1;
  for (std::size_t i = 1; i <= k; ++i) result = result * (n - k + i) / i;
  return result;
}

std::uint64_t nth_subset(std::size_t n, std::size_t k, std::uint64_t rank) {
  ATTUNE_CHECK(n <= 52 && rank < binomial(n, k));
  std::uint64_t mask = 0;
  for (std::size_t i = 0; k > 0; ++i) {
    const std::uint64_t with_i = binomial(n - 1 - i, k - 1);  // subsets that start with i
    if (rank < with_i) {
      mask |= std::uint64_t{1} << i;
      --k;
    } else {
      rank -= with_i;
    }
  }
  return mask;
}

}  // namespace attune
