#include "math/gp/powers.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "math/gp/straighten.h"

namespace attune {
namespace {

constexpr std::size_t kLeastLosses = 5;
constexpr double kLeastRatio = 10;
constexpr double kMargin = 3;  // of the logarithms of densities: a factor of 20

// The logarithm of the derivative of the power.
double log_slope(double loss, double power) {
  return power == 0 ? -std::log(loss) : std::log(power) + (power - 1) * std::log(loss);
}

}  // namespace

std::vector<double> to_power(std::span<const double> losses, double power) {
  std::vector<double> all(losses.begin(), losses.end());
  if (power == 1) return all;
  for (double& loss : all) loss = power == 0 ? std::log(loss) : std::pow(loss, power);
  return all;
}

double likeliest_power(const GaussianProcess& model, std::span<const double> rows,
                       std::span<const double> losses, int evaluations) {
  if (losses.size() < kLeastLosses) return 1;
  // How bad the outliers are would speak for the logarithm.
  const double most = outlier_limit(losses);
  std::vector<double> bounded;
  for (const double loss : losses) bounded.push_back(std::min(loss, most));
  const auto [least, largest] = std::ranges::minmax(bounded);
  if (!(least > 0) || largest / kLeastRatio < least) return 1;

  GaussianProcess fitted = model;
  fitted.assign(rows, model.parameters());
  double likeliest = 1, highest = -std::numeric_limits<double>::infinity();
  for (const double power : kPowers) {
    const Standardisation bent =
        standardisation(to_power(bounded, power), std::numeric_limits<double>::infinity());
    if (!(bent.unit > 0)) continue;
    double density = power == 1 ? 0 : -kMargin;
    for (const double loss : bounded) density += log_slope(loss, power) - std::log(bent.unit);
    GaussianProcess process = fitted;
    process.set_targets(bent.targets);
    density += evaluations > 0 ? process.fit(evaluations) : process.log_density_of_targets();
    if (density > highest) {
      highest = density;
      likeliest = power;
    }
  }
  return likeliest;
}

}  // namespace attune
