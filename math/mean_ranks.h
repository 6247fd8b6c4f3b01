#pragma once
#include <span>
#include <vector>

namespace attune {

// The rank of each number, from 1 for the least; equal numbers share the mean of their ranks.
// O(n log n). No number is NaN.
std::vector<double> mean_ranks(std::span<const double> numbers);

}  // namespace attune
