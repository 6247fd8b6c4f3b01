#include "math/gp/straighten.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace attune {
namespace {

constexpr double kMostSpreads = 10;

struct Units {
  double centre = 0, unit = 0;
};

// Mean 0, deviation 1; losses may be as large as doubles are. Returns what they were.
Units standardise(std::vector<double>& y) {
  double largest = 0;
  for (const double v : y) largest = std::max(largest, std::abs(v));
  if (!(largest > 0)) return {};
  const auto n = static_cast<double>(y.size());
  double mean = 0;
  for (double& v : y) mean += (v /= largest) / n;
  double variance = 0;
  for (double& v : y) {
    v -= mean;
    variance += v * v / n;
  }
  // Smaller deviations are rounding errors of equal losses.
  const double deviation = std::sqrt(variance);
  const bool differ = deviation > 1e-15;
  for (double& v : y) v = differ ? v / deviation : 0;
  return {mean * largest, differ ? deviation * largest : 0};
}

double yeo_johnson(double y, double power) {
  if (y >= 0) return power == 0 ? std::log1p(y) : (std::pow(1 + y, power) - 1) / power;
  return power == 2 ? -std::log1p(-y) : -(std::pow(1 - y, 2 - power) - 1) / (2 - power);
}

double variance(std::span<const double> y) {
  const auto n = static_cast<double>(y.size());
  double mean = 0, sum = 0;
  for (const double v : y) mean += v / n;
  for (const double v : y) sum += (v - mean) * (v - mean) / n;
  return sum;
}

}  // namespace

Standardisation standardisation(std::span<const double> losses, double most) {
  std::vector<double> y;
  for (const double loss : losses) y.push_back(std::min(loss, most));
  const auto [centre, unit] = standardise(y);
  return {.targets = std::move(y), .centre = centre, .unit = unit};
}

double outlier_limit(std::span<const double> losses) {
  std::vector<double> sorted(losses.begin(), losses.end());
  std::ranges::sort(sorted);
  const double median = sorted[(sorted.size() - 1) / 2];
  const double spread = median - sorted[(sorted.size() - 1) / 4];
  return spread > 0 ? median + kMostSpreads * spread : std::numeric_limits<double>::infinity();
}

std::vector<double> standardised(std::span<const double> losses) {
  if (losses.empty()) return {};
  return standardisation(losses, outlier_limit(losses)).targets;
}

std::vector<double> straightened(std::span<const double> losses) {
  const std::vector<double> y = standardised(losses);
  double jacobian = 0;  // sum of the logarithms of the derivative, / (power - 1)
  for (const double v : y) jacobian += (v >= 0 ? 1 : -1) * std::log1p(std::abs(v));
  std::vector<double> best = y, bent(y.size());
  double highest = -std::numeric_limits<double>::infinity();
  for (int quarter = -12; quarter <= 12; ++quarter) {
    const double power = quarter / 4.0;
    for (std::size_t i = 0; i < y.size(); ++i) bent[i] = yeo_johnson(y[i], power);
    const double fit = -0.5 * static_cast<double>(y.size()) * std::log(variance(bent) + 1e-12);
    // Normal around 1 with deviation 0.5.
    const double prior = -2 * (power - 1) * (power - 1);
    const double posterior = fit + (power - 1) * jacobian + prior;
    if (posterior > highest) {
      highest = posterior;
      best = bent;
    }
  }
  standardise(best);
  return best;
}

}  // namespace attune
