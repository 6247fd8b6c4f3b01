#pragma once
// The subsets of size k of n things, n <= 52, as bit masks.
#include <cstddef>
#include <cstdint>

namespace attune {

// n choose k; 0 when k > n.
std::uint64_t binomial(std::size_t n, std::size_t k);

// The subset number `rank` in the lexicographic order of ascending indices: {0,1} {0,2} {1,2}.
// rank < binomial(n, k).
std::uint64_t nth_subset(std::size_t n, std::size_t k, std::uint64_t rank);

}  // namespace attune
