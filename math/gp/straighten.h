#pragma once
// Losses -> targets that a Gaussian process can model: mean 0, deviation 1, no extreme outliers.
#include <span>
#include <vector>

namespace attune {

// Whatever is further above the median than ten times the distance of the lower quartile is moved
// there, if it has one: how bad a diverged trial is says nothing of the good ones. Then
// standardised. All 0 where all losses are equal.
std::vector<double> standardised(std::span<const double> losses);

// The same, bent towards a normal distribution in between: Yeo, Johnson, "A New Family of Power
// Transformations to Improve Normality or Symmetry" (Biometrika 2000), the exponent by maximum
// likelihood with a normal prior around 1 (no change), deviation 0.5. Increasing, so that the order
// stays.
std::vector<double> straightened(std::span<const double> losses);

}  // namespace attune
