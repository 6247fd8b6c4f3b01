#pragma once
// TPE's choice: of candidates drawn where good results are dense, the one with the largest ratio of
// density(good) to density(rest), which maximises expected improvement (Bergstra et al. 2011,
// section 4.1).
namespace attune {

// `draw()` gives the next candidate; Estimator has log_density(x) and log_density_below(x, limit)
// (math/parzen.h). The first of equals. count > 0.
template <class Estimator, class Draw>
double most_promising(const Estimator& good, const Estimator& rest, int count, Draw&& draw) {
  double best = draw();
  double best_score = good.log_density(best) - rest.log_density(best);
  for (int i = 1; i < count; ++i) {
    const double candidate = draw();
    const double promise = good.log_density(candidate);
    // Most lose against the best so far, and a part of the rest's density shows it.
    const auto against = rest.log_density_below(candidate, promise - best_score);
    if (against && promise - *against > best_score) {
      best_score = promise - *against;
      best = candidate;
    }
  }
  return best;
}

}  // namespace attune
