#pragma once
// The one-dimensional Parzen estimator of TPE: a mixture of one normal per observation and one for
// the prior, optionally truncated to an interval.
//
// Source: Bergstra, Bardenet, Bengio, Kegl, "Algorithms for Hyper-Parameter Optimization" (NIPS
// 2011), section 4.2: the deviation of a component is its larger distance to a neighbour, clipped
// to [prior sigma / min(100, components + 1), prior sigma].
//
// Built for 10^4 observations and a few dozen evaluations per fit: building is one pass, and above
// kMergeFrom observations, components of the smallest deviation s that lie within s/4 are merged
// into one with the same weight, mean and variance. Then at most about 60 components matter at any
// x. Up to kMergeFrom observations the density is exact to 1e-9; beyond, the test measures the
// logarithm to be within 1e-3 of the unmerged sum.
#include <cstddef>
#include <limits>
#include <optional>
#include <vector>

#include "base/rng.h"

namespace attune {

// Points with weights >= 0, one each; ascending points where a function says so.
struct WeightedPoints {
  std::vector<double> points;
  std::vector<double> weights;
};

struct ParzenPrior {
  double mu = 0;     // in [low, high]
  double sigma = 1;  // > 0; sigma / 100 is a normal double
  double low = -std::numeric_limits<double>::infinity();
  double high = std::numeric_limits<double>::infinity();
  double weight = 1;  // > 0, on the scale of the observations' weights
};

// A value: immutable once fitted. A function of its observations, which are saved in its place.
class Parzen {
 public:
  static constexpr std::size_t kMergeFrom = 200;

  // `observations`: finite, points ascending. Points outside of [low, high] are allowed, they count
  // with the part of their component that is inside.
  Parzen(const WeightedPoints& observations, const ParzenPrior& prior);

  // A draw, always in [low, high].
  double sample(Rng& rng) const;

  // Logarithm of the density at x, normalised over [low, high]; -infinity outside. Finite wherever
  // the true value is above -1e300, however far in the tails.
  double log_density(double x) const;

  // log_density(x) if it is below `limit`: components are added, those near x first, only until
  // their sum is too large. What exceeds the limit by less than 1e-9 may come back too.
  std::optional<double> log_density_below(double x, double limit) const;

 private:
  struct Component {
    double mu = 0, sigma = 0;
    double weight = 0;
    double precision = 0;  // 1 / sigma
    double height = 0;     // share of all weights / (sigma sqrt(2 pi))
  };

  void add_components(const WeightedPoints& observations, const ParzenPrior& prior);
  double mass_inside(const Component& component) const;
  double density(double x, double most) const;
  double log_density_far(double x) const;

  double low_, high_;
  double log_inside_ = 0;              // logarithm of the mass inside [low, high]
  double narrow_sigma_ = 0;            // the smallest deviation
  std::size_t narrow_begin_ = 0;       // components_[narrow_begin_..]: that deviation, mu ascending
  std::vector<Component> components_;  // wide ones first
  std::vector<double> cumulative_;     // of the shares of weight times mass inside
};

}  // namespace attune
