#pragma once
// A mixture of product kernels over numbers and categories: the density estimator of multivariate
// TPE. It has one component for each past trial, with a kernel on every axis. So it knows which
// values go together, unlike a product of one-dimensional mixtures.
//
// Source: Falkner, Klein, Hutter, "BOHB" (ICML 2018), section 3.2, and Watanabe, "Tree-structured
// Parzen estimator: understanding its algorithm components" (arXiv 2304.11127), section 3.3.
//
// Kernels. On a number: a normal truncated to [low, high]. On K categories: the component's own
// category with probability 1 - width, else any of the K (Aitchison, Aitken, "Multivariate binary
// discrimination by the kernel method", 1976, with width in the place of their K/(K-1) (1 -
// lambda)).
//
// A number that stands for a cell (an integer, a multiple of q) should be scored by the mass that
// the normal has in the cell. Up to the factor of the cell's width, this mass is the density, at
// the middle of the cell, of the normal convolved with the cell. That density is approximated by a
// normal with the same variance, width^2 + cell^2 / 12. Its logarithm is within 0.05 of the exact
// one where the cell is at most twice the width and x is within two deviations. So nothing is
// integrated in the loop over components.
#include <cstddef>
#include <span>
#include <vector>

#include "base/rng.h"

namespace attune {

// One axis: a number in [low, high] (either bound may be infinite); or, if categories > 0, a
// category, which is a number in [0, categories) or any other label, such as a bit mask.
struct MixtureAxis {
  double low = 0, high = 1;
  double categories = 0;
};

// The kernel of one component on one axis.
struct MixtureKernel {
  double centre = 0;  // a number in [low, high], or a category
  double width = 0;   // number: deviation, > 0 and at most high - low, or infinite, which is the
                      // uniform density (finite bounds only); category: in (0, 1]
  double cell = 0;    // number: width of the interval that the centre stands for
};

// A value, immutable once made, with at least one component. Savers store the trials and make it
// again.
class ProductMixture {
 public:
  static constexpr double kAnyCategory = -1;

  // `kernels` are stored axis by axis: kernels[axis * weights.size() + component]. Weights are > 0;
  // their sum is arbitrary.
  ProductMixture(std::span<const MixtureAxis> axes, std::span<const MixtureKernel> kernels,
                 std::span<const double> weights);

  std::size_t axes() const { return axes_.size(); }

  // Draws axes() values. For kAnyCategory the caller must draw a category uniformly from all.
  // Numbers with cells are not rounded.
  void sample(Rng& rng, std::span<double> x) const;

  // The logarithms of the densities at log_densities.size() points, points[p * axes() + axis].
  // Numbers must be in [low, high]. Components are compared in single precision: the logarithm is
  // within 1e-4 where coordinates are of the order of 1 and widths above 1e-3. Components below
  // 1e-37 of the largest one may count as 1e-37 of it.
  void log_densities(std::span<const double> points, std::span<double> log_densities) const;

 private:
  void add_numbers(std::size_t axis, std::span<const MixtureKernel> kernels,
                   std::span<double> heights);
  void add_categories(std::size_t axis, std::span<const MixtureKernel> kernels,
                      std::span<double> heights);

  std::vector<MixtureAxis> axes_;
  std::size_t size_;                    // components
  std::vector<double> centre_, width_;  // axis by axis, as the kernels; for sample()
  // For log_densities(). middle_: the centres. scale_ of numbers: 1 / (deviation sqrt 2), 0 for the
  // uniform density; of categories: log of the probability of another category relative to the own
  // one.
  std::vector<float> middle_, scale_;
  std::vector<float> height_;  // of components: log of weight and kernels' peaks, the largest 0
  double log_largest_ = 0;     // subtracted from height_
  std::vector<double> cumulative_;  // of weights
};

}  // namespace attune
