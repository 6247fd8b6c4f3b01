#pragma once
// The upper tail of the standard normal distribution.
#include <cmath>
#include <numbers>

namespace attune {

// P(Z > z). Exact to the last digits also far out, where 1 - P(Z < z) would be 0.
inline double upper_tail(double z) { return 0.5 * std::erfc(z / std::numbers::sqrt2); }

}  // namespace attune
