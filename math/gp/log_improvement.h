#pragma once
// The logarithm of expected improvement. It still has a slope where the improvement itself
// underflows.
//
// Source: Ament, Daulton, Eriksson, Balandat, Bakshy, "Unexpected Improvements to Expected
// Improvement for Bayesian Optimization" (NeurIPS 2023), section 4.1 and appendix A.1.
namespace attune {

// log(phi(z) + z Phi(z)) for every finite z. The error is about 1e-10, plus that of rounding a
// logarithm of about z^2 / 2.
double log_improvement(double z);

// log E[max(0, best - Y)] for a normal Y with deviation > 0, and its derivatives.
struct LogImprovement {
  double value = 0;
  double by_mean = 0, by_deviation = 0;  // derivatives
};
LogImprovement log_expected_improvement(double mean, double deviation, double best);

// log Phi(z), the logarithm of the probability that a standard normal is below z, and its
// derivative phi(z) / Phi(z).
double log_normal_probability(double z);
double normal_hazard(double z);

}  // namespace attune
