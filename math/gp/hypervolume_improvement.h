#pragma once
// How much of the volume that a set of results leaves undominated a new one is expected to take:
// the expected improvement for several objectives, all minimised.
//
// Source: Yang, Emmerich, Deutz, Baeck, "Efficient Computation of Expected Hypervolume Improvement
// Using Box Decomposition Algorithms" (Journal of Global Optimization 2019): the undominated region
// is cut into boxes, and in each of them the expectation is a product over the objectives. Its
// logarithm, for slopes where the improvement itself underflows: Ament et al. (NeurIPS 2023),
// section 4.3.
#include <cstddef>
#include <span>
#include <vector>

namespace attune {

// A value. Not thread safe with assignment; evaluation is const.
class HypervolumeImprovement {
 public:
  // `results`: one after the other, reference.size() >= 1 numbers each, finite; those that others
  // dominate or that are not better than the reference everywhere do not matter. Of a front that
  // would need more than about four thousand boxes those stay that are far from their neighbours.
  HypervolumeImprovement(std::span<const double> results, std::span<const double> reference);

  // log E[volume that Y adds below the reference], the elements of Y independent and normal with
  // these means and deviations > 0; always finite. Writes the derivatives by them.
  double log_expectation(std::span<const double> means, std::span<const double> deviations,
                         std::span<double> by_mean, std::span<double> by_deviation) const;

  std::size_t boxes() const { return boxes_.size() / objectives(); }

 private:
  struct Interval {
    std::size_t low = 0, high = 0;  // of edges; low 0 is minus infinity
    bool operator==(const Interval&) const = default;
  };
  struct Axis {
    std::vector<double> edges;  // ascending; the first one is not used, the last is the reference
    std::vector<Interval> intervals;
  };

  std::size_t objectives() const { return axes_.size(); }
  // `points`: rows of edges' numbers; appends the boxes that are undominated in the first
  // `dimensions` objectives, `tail` being the intervals of the others.
  void cut(std::vector<const std::size_t*> points, std::size_t dimensions,
           std::vector<std::size_t>& tail);
  std::size_t interval(std::size_t axis, Interval wanted);

  std::vector<Axis> axes_;          // of objectives
  std::vector<std::size_t> boxes_;  // of each box, for each objective: the number of its interval
};

}  // namespace attune
