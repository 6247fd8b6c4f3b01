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
#include <span>
#include <vector>

#include "base/rng.h"
#include "math/array_passes.h"

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

  // Logarithm of the density at x, normalised over [low, high]; -infinity outside. Finite wherever
  // the true value is above -1e300, however far in the tails. A pass over the components.
  double log_density(double x) const { return log_height(x) - log_mass(); }

  // log_density(x) plus a number that is the same for each x, which costs half as much.
  double log_height(double x) const;

  // exp(log_height(x)) at each x in [low, high], up to another constant factor; within kHeightError
  // relative, or 0: not told.
  static constexpr double kHeightError = 4e-5;
  void heights(std::span<const double> x, std::span<double> heights) const;

  // Draws from the density, always in [low, high]. Has all it needs, may outlive the estimator.
  class Sampler {
   public:
    explicit Sampler(const Parzen& parzen);
    double operator()(Rng& rng) const;

   private:
    struct Component {
      double mu, sigma;
      double a, b;         // the bounds as deviations from mu, mirrored or not
      double from, to;     // the normal's tails beyond them
      bool whole, mirror;  // whether nothing is cut off
    };
    double low_, high_;
    std::vector<Component> components_;
    std::vector<double> cumulative_;  // of the shares of weight times mass inside
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
  std::size_t narrow_begin_ = 0;       // components_[narrow_begin_..]: that deviation, mu ascending
  std::vector<Component> components_;  // wide ones first
  double total_ = 0;                   // weight
  // For heights(), in deviations of the prior from its mean. The parts of wide and of narrow
  // components are multiples of ArrayPasses::kLanes; what fills them up has no height.
  std::vector<float> terms_;      // four arrays, as NormalTerms has them
  std::size_t narrow_terms_ = 0;  // where the narrow ones begin
  std::vector<float> firsts_;     // means of every kLanes-th narrow one
  float told_from_ = 0;           // a height that what is left out does not show beside
};

}  // namespace attune
