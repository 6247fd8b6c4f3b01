#pragma once
// A mixture of product kernels over numbers and categories: the density estimator of multivariate
// TPE. One component for each past trial, with a kernel on every axis; unlike a product of
// one-dimensional mixtures it knows which values go together.
//
// Source: Falkner, Klein, Hutter, "BOHB" (ICML 2018), section 3.2, and Watanabe, "Tree-structured
// Parzen estimator: understanding its algorithm components" (arXiv 2304.11127), section 3.3.
//
// Kernels: on a number a normal truncated to [low, high]; on K categories, that of the component
// with probability 1 - width, else any of the K (Aitchison, Aitken, "Multivariate binary
// discrimination by the kernel method", 1976, with width in their place of K/(K-1) (1 - lambda)).
//
// A number that stands for a cell (an integer, a multiple of q) ought to be scored by the mass that
// the normal has there. That is, up to the cell's width, the density at the cell's middle of the
// normal convolved with the cell, for which stands the normal with the same variance,
// width^2 + cell^2 / 12. The logarithm is within 0.05 of the exact one where the cell is at most
// twice the width and x within two deviations; nothing is integrated in the loop over components.
#include <cstddef>
#include <span>
#include <vector>

#include "base/rng.h"

namespace attune {

// A number in [low, high] (either may be infinite), or, with categories > 0, a category: a number
// in [0, categories), or any other label of one, such as a bit mask.
struct MixtureAxis {
  double low = 0, high = 1;
  double categories = 0;
};

// What one component has on one axis.
struct MixtureKernel {
  double centre = 0;  // a number in [low, high], or a category
  double width = 0;   // number: deviation, > 0 and at most high - low, or infinite, which is the
                      // uniform density (finite bounds only); category: in (0, 1]
  double cell = 0;    // number: width of the interval that the centre stands for
};

// A value: immutable once made, a function of its components, which are made of what is saved. At
// least one component.
class ProductMixture {
 public:
  static constexpr double kAnyCategory = -1;

  // `kernels` axis by axis: kernels[axis * weights.size() + component]. Weights > 0, of any sum.
  ProductMixture(std::span<const MixtureAxis> axes, std::span<const MixtureKernel> kernels,
                 std::span<const double> weights);

  std::size_t axes() const { return axes_.size(); }

  // A draw of axes() values. kAnyCategory stands for one that the caller draws uniformly from all;
  // numbers with cells are not rounded.
  void sample(Rng& rng, std::span<double> x) const;

  // Logarithms of the densities at log_densities.size() points, points[p * axes() + axis]; numbers
  // must be in [low, high]. Components are compared in single precision: the logarithm is within
  // 1e-4 where coordinates are of the order of 1 and widths above 1e-3, and components below 1e-37
  // of the largest one may count as that.
  void log_densities(std::span<const double> points, std::span<double> log_densities) const;

 private:
  void add_numbers(std::size_t axis, std::span<const MixtureKernel> kernels,
                   std::span<double> heights);
  void add_categories(std::size_t axis, std::span<const MixtureKernel> kernels,
                      std::span<double> heights);

  std::vector<MixtureAxis> axes_;
  std::size_t size_;                    // components
  std::vector<double> centre_, width_;  // axis by axis, as kernels: for drawing
  // For scoring. Numbers: 1 / (deviation sqrt 2), 0 for uniform. Categories: the logarithm of the
  // probability of another category relative to the component's own.
  std::vector<float> middle_, scale_;
  std::vector<float> height_;  // of components: log of weight and kernels' peaks, the largest 0
  double log_largest_ = 0;     // what was taken from them
  std::vector<double> cumulative_;  // of weights
};

}  // namespace attune
