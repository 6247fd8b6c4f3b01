#pragma once
// Sums and means as numpy computes them, to the last bit.
#include <span>

namespace attune {

// Pairwise summation: eight partial sums in a block of at most 128 numbers, halves of a multiple of
// eight above that. The rounding error grows with log(n), not with n. (Higham, "The Accuracy of
// Floating Point Summation", SIAM J. Sci. Comput. 14, 1993.)
inline double pairwise_sum(std::span<const double> x) {
  const std::size_t n = x.size();
  if (n > 128) {
    const std::size_t half = n / 2 - n / 2 % 8;
    return pairwise_sum(x.first(half)) + pairwise_sum(x.subspan(half));
  }
  double sum = -0.0;  // so that the sum of negative zeros keeps their sign
  std::size_t i = 0;
  if (n >= 8) {
    double part[8];
    for (std::size_t k = 0; k < 8; ++k) part[k] = x[k];
    for (i = 8; i + 8 <= n; i += 8) {
      for (std::size_t k = 0; k < 8; ++k) part[k] += x[i + k];
    }
    sum = ((part[0] + part[1]) + (part[2] + part[3])) + ((part[4] + part[5]) + (part[6] + part[7]));
  }
  for (; i < n; ++i) sum += x[i];
  return sum;
}

// NaN if there are no numbers.
inline double mean(std::span<const double> x) {
  return pairwise_sum(x) / static_cast<double>(x.size());
}

}  // namespace attune
