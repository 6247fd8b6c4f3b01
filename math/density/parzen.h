#pragma once
// The one-dimensional Parzen estimator of TPE: a mixture of one normal for each observation and one
// for the prior, optionally truncated to an interval.
//
// Source: Bergstra, Bardenet, Bengio, Kegl, "Algorithms for Hyper-Parameter Optimization" (NIPS
// 2011), section 4.2. The deviation of a component is the larger of its distances to its two
// neighbours, clipped to [prior sigma / min(100, components + 1), prior sigma].
//
// It is built for 10^4 observations and a few dozen evaluations per fit. Building is one pass.
// Above kMergeFrom observations, components of the smallest deviation s that lie within s/4 are
// merged into one with the same weight, mean and variance; then at most about 60 components matter
// at any x. Up to kMergeFrom observations the density is exact to 1e-9. Beyond, its logarithm is
// within 1e-3 of the unmerged sum, as the test measures.
#include <cstddef>
#include <limits>
#include <span>
#include <vector>

#include "base/rng.h"
#include "math/array_passes.h"

namespace attune {

// Points, each with a weight >= 0. Some functions require ascending points.
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

// A value, immutable once made. Savers store the observations and make it again.
class Parzen {
 public:
  static constexpr std::size_t kMergeFrom = 200;

  // `observations`: finite, in ascending order of the points. A point outside of [low, high] is
  // allowed: the part of its component that is inside counts.
  Parzen(const WeightedPoints& observations, const ParzenPrior& prior);

  // The logarithm of the density at x, normalised over [low, high]; -infinity outside. It is finite
  // wherever the true logarithm is above -1e300, however far in the tails. Costs a pass over the
  // components.
  double log_density(double x) const { return log_height(x) - log_mass(); }

  // log_density(x) plus a number that does not depend on x. Costs half as much.
  double log_height(double x) const;

  // exp(log_height(x)) at each x in [low, high], times a constant factor. The relative error is at
  // most kHeightError; 0 means that the value could not be computed with this precision.
  static constexpr double kHeightError = 4e-5;
  void heights(std::span<const double> x, std::span<double> heights) const;

  // Draws from the density, always in [low, high]. It copies what it needs, so it may outlive the
  // estimator.
  class Sampler {
   public:
    explicit Sampler(const Parzen& parzen);
    double operator()(Rng& rng) const;

   private:
    struct Component {
      double mu, sigma;
      double a, b;         // the bounds as deviations from mu, mirrored or not
      double from, to;     // the normal's tails beyond them
      bool whole, mirror;  // whole: no tail is cut off
    };
    double low_, high_;
    std::vector<Component> components_;
    std::vector<double> cumulative_;  // sums of the components' masses inside
  };

 private:
  struct Component {
    double mu = 0, sigma = 0;
    double weight = 0;
  };

  void add_components(const WeightedPoints& observations);
  void add_each(const WeightedPoints& observations, std::span<const double> gaps);
  void add_merged(const WeightedPoints& observations, std::span<const double> gaps);
  void add_terms();
  double mass_inside(const Component& component) const;
  double log_mass() const;                          // logarithm of the mass inside [low, high]
  double height(const Component& component) const;  // share of all weights / (sigma sqrt(2 pi))
  NormalWindow window(double x) const;
  double density(double x) const;
  double log_height_far(double x) const;

  ParzenPrior prior_;
  double narrow_sigma_ = 0;            // the smallest deviation
  std::size_t narrow_begin_ = 0;       // components_ from here on have that deviation, mu ascending
  std::vector<Component> components_;  // wide ones first
  double total_ = 0;                   // weight
  // For heights(), in units of the prior's deviation, from its mean. Wide and narrow components are
  // padded to multiples of ArrayPasses::kLanes with components of height 0.
  std::vector<float> terms_;      // four arrays, as NormalTerms has them
  std::size_t narrow_terms_ = 0;  // where the narrow ones begin
  std::vector<float> firsts_;     // mean of every kLanes-th narrow component
  float told_from_ = 0;           // smaller sums may lack something that matters: heights() gives 0
};

}  // namespace attune
