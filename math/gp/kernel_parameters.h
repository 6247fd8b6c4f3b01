#pragma once
// The parameters of the kernel of math/gp/gaussian_process.h, their limits and priors. Source:
// Hvarfner, Hellsten, Nardi, "Vanilla Bayesian Optimization Performs Great in High Dimensions"
// (ICML 2024), section 4: the prior of the length scales grows with the square root of the number
// of dimensions.
#include <span>
#include <vector>

#include "math/gp/input_warp.h"
#include "math/gp/mixed_rows.h"
#include "math/maximise.h"

namespace attune {

// Added to the diagonal of the covariance, in variances of the signal, so that its Cholesky factor
// exists.
constexpr double kJitter = 1e-8;

// Variances are in units of the targets' variance.
struct KernelParameters {
  std::vector<double> log_weights;  // of each dimension: log(1 / length scale^2)
  double log_signal = 0;            // of the signal's variance
  double log_noise = 0;             // of the noise's variance
  std::vector<Warp> warps = {};     // of each dimension (of categories: no change); or empty
};

// pack() puts all numbers into one vector: weights, signal, noise, warps if there are any. unpack()
// is its inverse.
std::vector<double> pack(const KernelParameters& parameters);
KernelParameters unpack(std::span<const double> packed, std::size_t dimensions);
// The size of such a vector.
std::size_t packed_size(std::size_t dimensions, bool with_warps);

// The limits of packed parameters. The noise's variance is at least `least_noise`.
Box kernel_limits(const MixedRows& rows, double least_noise, bool with_warps);

// The logarithm of the prior density at packed parameters, up to a constant. The constant is such
// that warps without effect are as likely as no warps. Adds the derivatives to `gradient`. The
// number of dimensions is that of the active ones in an average row.
double log_kernel_prior(const MixedRows& rows, std::span<const double> packed,
                        std::span<double> gradient);

}  // namespace attune
