#pragma once
// Expected improvement along one direction of several objectives, all minimised.
//
// A result y is as good as the length of the ray from the reference, towards better values, that it
// dominates: min over the objectives of (reference - y) / weight. Averaged over all directions, the
// (power of the) length is the hypervolume: Golovin, Zhang, "Random Hypervolume Scalarizations for
// Provable Multi-Objective Black Box Optimization" (ICML 2020). It costs O(objectives), where the
// boxes of a hypervolume grow with a power of the front (hypervolume_improvement.h).
#include <span>
#include <vector>

namespace attune {

// A value. Evaluation is const: any thread.
class ScalarisedImprovement {
 public:
  // `results`: one after the other, reference.size() >= 1 finite numbers each; at least one.
  // `weights` > 0: the direction of the ray. `ideal`: no result is expected to be better than this
  // in any objective; an improvement counts only up to there.
  ScalarisedImprovement(std::span<const double> results, std::span<const double> reference,
                        std::span<const double> weights, std::span<const double> ideal);

  // log E[how much longer the ray of Y is than that of the best result]. The elements of Y are
  // independent and normal with these means and deviations > 0. The value is always finite. Writes
  // the derivatives by means and deviations.
  double log_expectation(std::span<const double> means, std::span<const double> deviations,
                         std::span<double> by_mean, std::span<double> by_deviation) const;

 private:
  std::vector<double> reference_, weights_;
  double best_ = 0;    // length of the best ray
  double length_ = 0;  // the most that an improvement counts
};

}  // namespace attune
