#include "math/cma_es/cma_es_warm_start.h"

#include <cmath>

#include "base/check.h"

namespace attune {

CmaStart cma_warm_start(std::span<const CmaResult> best, double unknown, bool diagonal) {
  ATTUNE_CHECK(!best.empty());
  const std::size_t n = best.front().x.size();
  const auto is_active = [](const CmaResult& one, std::size_t i) {
    return one.active.empty() || one.active[i];
  };
  CmaStart start{.mean = std::vector<double>(n, 0.5), .diagonal = diagonal};
  std::vector<double> counts(n);
  for (const CmaResult& one : best) {
    for (std::size_t i = 0; i < n; ++i) {
      if (is_active(one, i)) start.mean[i] += (one.x[i] - start.mean[i]) / ++counts[i];
    }
  }

  const std::size_t step = diagonal ? 1 : n + 1;  // from one variance to the next
  start.covariance.assign(diagonal ? n : n * n, 0);
  for (std::size_t i = 0; i < n; ++i) {
    const double deviation = counts[i] > 0 ? kWarmDeviation : unknown;
    start.covariance[i * step] = deviation * deviation;
  }
  std::vector<double> deviations(n);
  for (const CmaResult& one : best) {
    for (std::size_t i = 0; i < n; ++i) {
      deviations[i] = is_active(one, i) ? one.x[i] - start.mean[i] : 0;
    }
    const double share = 1 / static_cast<double>(best.size());
    for (std::size_t i = 0; i < n; ++i) {
      if (diagonal) {
        start.covariance[i] += share * deviations[i] * deviations[i];
        continue;
      }
      for (std::size_t j = 0; j < n; ++j) {
        start.covariance[i * n + j] += share * deviations[i] * deviations[j];
      }
    }
  }

  // Only the product of step size and covariance matters, so the scale of the covariance is free.
  // The paper divides by its determinant; here the step size is the root mean square deviation.
  double trace = 0;
  for (std::size_t i = 0; i < n; ++i) trace += start.covariance[i * step];
  if (n > 0) start.sigma = std::sqrt(trace / static_cast<double>(n));
  for (double& c : start.covariance) c /= start.sigma * start.sigma;
  return start;
}

}  // namespace attune
