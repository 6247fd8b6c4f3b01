#pragma once
// The expected hypervolume improvement: expected improvement for several objectives, all minimised.
// It is the volume that a new result is expected to dominate, beyond what the known results
// dominate.
//
// Source: Yang, Emmerich, Deutz, Baeck, "Efficient Computation of Expected Hypervolume Improvement
// Using Box Decomposition Algorithms" (Journal of Global Optimization 2019): the undominated region
// is cut into boxes, and in each box the expectation is a product over the objectives. It returns
// the logarithm, which still has a slope where the improvement itself underflows: Ament et al.
// (NeurIPS 2023), section 4.3.
#include <cstddef>
#include <span>
#include <vector>

namespace attune {

// A value. Evaluation is const, so several threads may evaluate while none assigns.
class HypervolumeImprovement {
 public:
  // `results`: one after the other, reference.size() >= 1 finite numbers each. Results that others
  // dominate, or that are not better than the reference in every objective, have no effect. If a
  // front needs more than about four thousand boxes, only the points that are far from their
  // neighbours stay.
  HypervolumeImprovement(std::span<const double> results, std::span<const double> reference);

  // log E[volume that Y adds below the reference]. The elements of Y are independent and normal
  // with these means and deviations > 0. The value is always finite. Writes the derivatives by
  // means and deviations.
  double log_expectation(std::span<const double> means, std::span<const double> deviations,
                         std::span<double> by_mean, std::span<double> by_deviation) const;

  std::size_t boxes() const { return boxes_.size() / objectives(); }

 private:
  struct Interval {
    std::size_t low = 0, high = 0;  // indices of edges; low 0 is minus infinity
    bool operator==(const Interval&) const = default;
  };
  struct Axis {
    std::vector<double> edges;  // ascending; the first is -infinity, the last is the reference
    std::vector<Interval> intervals;
  };

  std::size_t objectives() const { return axes_.size(); }
  // Appends the boxes that no point dominates in the first `dimensions` objectives. `points`: for
  // each point the index of its edge in each objective. `tail`: the intervals in the other
  // objectives.
  void cut(std::vector<const std::size_t*> points, std::size_t dimensions,
           std::vector<std::size_t>& tail);
  std::size_t interval(std::size_t axis, Interval wanted);

  std::vector<Axis> axes_;          // of objectives
  std::vector<std::size_t> boxes_;  // for each box and objective, the index of the interval
};

}  // namespace attune
