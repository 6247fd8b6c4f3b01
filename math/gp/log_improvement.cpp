#include "math/gp/log_improvement.h"

#include <cmath>
#include <numbers>

namespace attune {
namespace {

const double kLogSqrt2Pi = 0.5 * std::log(2 * std::numbers::pi);

// exp(t^2) erfc(t) for t >= 0. Uses the continued fraction (Abramowitz, Stegun 7.1.14) where erfc
// underflows or the product loses digits.
double scaled_erfc(double t) {
  if (t < 5) return std::exp(t * t) * std::erfc(t);
  double fraction = 0;
  for (int k = 24; k > 0; --k) fraction = 0.5 * k / (t + fraction);
  return 1 / ((t + fraction) * std::sqrt(std::numbers::pi));
}

}  // namespace

double log_normal_probability(double z) {
  if (z > -1) return std::log(0.5 * std::erfc(-z / std::numbers::sqrt2));
  return std::log(0.5 * scaled_erfc(-z / std::numbers::sqrt2)) - 0.5 * z * z;
}

double normal_hazard(double z) {
  if (z > 0) return std::exp(-0.5 * z * z - kLogSqrt2Pi - log_normal_probability(z));
  return std::sqrt(2 / std::numbers::pi) / scaled_erfc(-z / std::numbers::sqrt2);
}

double log_improvement(double z) {
  if (z > -1) {
    const double density = std::exp(-0.5 * z * z - kLogSqrt2Pi);
    return std::log(density + z * 0.5 * std::erfc(-z / std::numbers::sqrt2));
  }
  // It is phi(z) (1 + z Phi(z) / phi(z)). The parenthesis is z^-2 - 3 z^-4 + 15 z^-6 - ..., and
  // loses its digits by cancellation when z is far below 0: there the series is used.
  const double square = z * z;
  if (z < -200) {
    return -0.5 * square - kLogSqrt2Pi - std::log(square) + std::log1p((15 / square - 3) / square);
  }
  return -0.5 * square - kLogSqrt2Pi + std::log1p(z / normal_hazard(z));
}

LogImprovement log_expected_improvement(double mean, double deviation, double best) {
  const double z = (best - mean) / deviation;
  const double log_h = log_improvement(z);
  const double probability = std::exp(log_normal_probability(z) - log_h);  // Phi / h
  const double density = std::exp(-0.5 * z * z - kLogSqrt2Pi - log_h);     // phi / h
  return {std::log(deviation) + log_h, -probability / deviation, density / deviation};
}

}  // namespace attune
