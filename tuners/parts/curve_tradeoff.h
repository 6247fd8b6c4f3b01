#pragma once
// One number, which is minimised, for a result of several objectives and limits.
//
// The objectives count by the augmented Chebyshev distance from the best value of each (Knowles,
// "ParEGO: A Hybrid Algorithm with On-Line Landscape Approximation for Expensive Multiobjective
// Optimization Problems", IEEE TEC 2006). Whatever the weights, the lowest one is a trade-off that
// no other dominates; and each trade-off is the lowest one for some weights, which those of a
// weighted sum are not.
//
// Results that break a limit come behind all that keep them, by their violation (base/standing.h).
#include <cstddef>
#include <span>
#include <vector>

#include "tuners/parts/curve_results.h"

namespace attune {

// The indices of the results, one behind the other, the best first, as ranking() in objectives.h;
// without weights.
std::vector<std::size_t> ranking(std::span<const double> results, const CurveShape& shape);

// A value. Not thread safe. Of a result that is nothing but a loss, the number is the loss.
class CurveTradeoff {
 public:
  explicit CurveTradeoff(CurveShape shape);

  // How much each objective counts: not negative, with the sum 1. At first all count the same.
  void set_weights(std::span<const double> weights);
  // What results range over: that of these ones, of which there must be at least one. One behind
  // the other. O(n log n).
  void set_scale(std::span<const double> results);

  double operator()(std::span<const double> result) const;

 private:
  struct Scale {
    double best = 0, most = 0, unit = 1;
  };
  static Scale scale_of(std::vector<double> values);
  double distance(std::span<const double> result) const;

  CurveShape shape_;
  std::vector<double> weights_;
  std::vector<Scale> scales_;  // of each objective
  bool any_kept_ = false;      // of the results that make the scale
  double worst_kept_ = 0;      // distance of a result that keeps all limits
  double typical_violation_ = 1;
};

}  // namespace attune
