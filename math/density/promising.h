#pragma once
// TPE's choice among candidates drawn from the density of good results: the one with the largest
// ratio density(good) / density(rest), which maximises expected improvement (Bergstra et al. 2011,
// section 4.1).
#include <algorithm>
#include <cstddef>
#include <span>
#include <vector>

namespace attune {

// Returns the best of `count` > 0 candidates, the first of equal ones. draw() gives the next
// candidate. Estimator has log_height(x), which is exact, and heights(x, heights), which is fast
// and within kHeightError (math/density/parzen.h). The fast heights nearly always decide; only
// candidates that they cannot tell apart are compared exactly.
template <class Estimator, class Draw>
double most_promising(const Estimator& good, const Estimator& rest, std::size_t count,
                      Draw&& draw) {
  std::vector<double> scratch(3 * count);
  const auto candidates = std::span(scratch).first(count);
  const auto ratios = std::span(scratch).subspan(count, count);
  const auto against = std::span(scratch).last(count);
  for (double& candidate : candidates) candidate = draw();
  good.heights(candidates, ratios);
  rest.heights(candidates, against);
  // If a height is 0, which means unknown, the ratio is unknown: -1.
  for (std::size_t i = 0; i < count; ++i) {
    ratios[i] = ratios[i] > 0 && against[i] > 0 ? ratios[i] / against[i] : -1;
  }
  // A smaller ratio cannot be the largest: each of the two ratios has the errors of two heights.
  const double least = *std::ranges::max_element(ratios) * (1 - 5 * Estimator::kHeightError);

  const auto score = [&](double x) { return good.log_height(x) - rest.log_height(x); };
  const double* best = nullptr;
  double best_score = 0;
  bool scored = false;
  for (std::size_t i = 0; i < count; ++i) {
    if (ratios[i] >= 0 && ratios[i] < least) continue;
    const double* candidate = &candidates[i];
    if (!best) {
      best = candidate;
      continue;
    }
    if (*candidate == *best) continue;
    if (!scored) best_score = score(*best);
    scored = true;
    if (const double other = score(*candidate); other > best_score) {
      best = candidate;
      best_score = other;
    }
  }
  return *best;
}

}  // namespace attune
