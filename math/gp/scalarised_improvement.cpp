#include "math/gp/scalarised_improvement.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "math/gp/log_improvement.h"

namespace attune {
namespace {

// Points of the integral over the length of the ray. Their distances grow from the best result on,
// near which most of the integral lies when little is left to gain.
constexpr std::size_t kPoints = 16;
constexpr double kLeastLength = 1e-6;

// The length of the ray that a result dominates; negative if it is behind the reference.
double ray(std::span<const double> result, std::span<const double> reference,
           std::span<const double> weights) {
  double least = std::numeric_limits<double>::infinity();
  for (std::size_t j = 0; j < result.size(); ++j) {
    least = std::min(least, (reference[j] - result[j]) / weights[j]);
  }
  return least;
}

}  // namespace

ScalarisedImprovement::ScalarisedImprovement(std::span<const double> results,
                                             std::span<const double> reference,
                                             std::span<const double> weights,
                                             std::span<const double> ideal)
    : reference_(reference.begin(), reference.end()), weights_(weights.begin(), weights.end()) {
  const std::size_t k = reference.size();
  best_ = ray(results.first(k), reference, weights);
  for (std::size_t at = k; at < results.size(); at += k) {
    best_ = std::max(best_, ray(results.subspan(at, k), reference, weights));
  }
  length_ = std::max(ray(ideal, reference, weights) - best_, kLeastLength);
}

// E[max(0, ray(Y) - best)] is the integral of P(ray(Y) > t) over t > best, and the probability is a
// product over the objectives, because they are independent.
double ScalarisedImprovement::log_expectation(std::span<const double> means,
                                              std::span<const double> deviations,
                                              std::span<double> by_mean,
                                              std::span<double> by_deviation) const {
  const std::size_t k = reference_.size();
  std::array<double, kPoints> logs;
  std::vector<double> z(kPoints * k);
  for (std::size_t p = 0; p < kPoints; ++p) {
    const double u = (static_cast<double>(p) + 0.5) / kPoints;
    const double t = best_ + length_ * u * u;
    logs[p] = std::log(2 * u * length_ / kPoints);
    for (std::size_t j = 0; j < k; ++j) {
      z[p * k + j] = (reference_[j] - t * weights_[j] - means[j]) / deviations[j];
      logs[p] += log_normal_probability(z[p * k + j]);
    }
  }
  const double most = std::ranges::max(logs);
  double sum = 0;
  std::ranges::fill(by_mean, 0.0);
  std::ranges::fill(by_deviation, 0.0);
  for (std::size_t p = 0; p < kPoints; ++p) {
    const double weight = std::exp(logs[p] - most);
    if (weight == 0) continue;
    sum += weight;
    for (std::size_t j = 0; j < k; ++j) {
      const double slope = weight * normal_hazard(z[p * k + j]) / deviations[j];
      by_mean[j] -= slope;
      by_deviation[j] -= slope * z[p * k + j];
    }
  }
  for (std::size_t j = 0; j < k; ++j) {
    by_mean[j] /= sum;
    by_deviation[j] /= sum;
  }
  return most + std::log(sum);
}

}  // namespace attune
