#pragma once
// A monotone map of positions that stretches the ends of a range. A function that changes faster
// near an end then looks stationary to a kernel. The map is Kumaraswamy's distribution function 1 -
// (1 - x^a)^b, which differs little from that of the beta distribution in Snoek, Swersky, Zemel,
// Adams, "Input Warping for Bayesian Optimization of Non-Stationary Functions" (ICML 2014), section
// 3.1.

namespace attune {

struct Warp {
  double log_a = 0, log_b = 0;  // both 0: straight
};

struct Warped {
  double value = 0;  // in (0, 1]
  double by_x = 0, by_log_a = 0, by_log_b = 0;
};

// Maps x in [0, 1]. It first shrinks the range by a thousandth at each end, where slopes may be
// infinite.
Warped warped(const Warp& warp, double x);

}  // namespace attune
