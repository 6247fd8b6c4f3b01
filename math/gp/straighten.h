#pragma once
// Turns losses into targets that a Gaussian process can model: mean 0, deviation 1, no extreme
// outliers.
#include <span>
#include <vector>

namespace attune {

// Losses above this are outliers: above the median by more than ten times the distance from the
// lower quartile to the median. Infinity if this distance is 0. There is at least one loss.
double outlier_limit(std::span<const double> losses);

// Standardises the losses. Before, outliers are moved to their limit: how bad a diverged trial is
// says nothing about the good ones. If all losses are equal, all targets are 0.
std::vector<double> standardised(std::span<const double> losses);

// Mean 0 and deviation 1 of losses with a limit that the caller chooses, and the way back: a loss
// of at most the limit is centre + unit * its target.
struct Standardisation {
  std::vector<double> targets;
  double centre = 0, unit = 0;  // unit 0: all losses are equal
};
Standardisation standardisation(std::span<const double> losses, double most);

// As standardised(), and then bent towards a normal distribution: Yeo, Johnson, "A New Family of
// Power Transformations to Improve Normality or Symmetry" (Biometrika 2000). The exponent maximises
// the likelihood times a normal prior with mean 1 (no change) and deviation 0.5. The map is
// increasing, so the order stays.
std::vector<double> straightened(std::span<const double> losses);

}  // namespace attune
