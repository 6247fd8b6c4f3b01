#pragma once
// TPE's choice: of candidates drawn where good results are dense, the one with the largest ratio of
// density(good) to density(rest), which maximises expected improvement (Bergstra et al. 2011,
// section 4.1).
namespace attune {

// `draw()` gives the next candidate; Estimator has log_density(x). The first of equals. count > 0.
template <class Estimator, class Draw>
double most_promising(const Estimator& good, const Estimator& rest, int count, Draw&& draw) {
  double best = draw();
  double best_score = good.log_density(best) - rest.log_density(best);
  for (int i = 1; i < count; ++i) {
    const double candidate = draw();
    const double score = good.log_density(candidate) - rest.log_density(candidate);
    if (score > best_score) {
      best_score = score;
      best = candidate;
    }
  }
  return best;
}

}  // namespace attune
