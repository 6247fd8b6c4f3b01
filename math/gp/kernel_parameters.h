#pragma once
// Parameters of the kernel of math/gp/gaussian_process.h: their limits, and what is believed of
// them before there are observations. Source: Hvarfner, Hellsten, Nardi, "Vanilla Bayesian
// Optimization Performs Great in High Dimensions" (ICML 2024), section 4: the prior of the length
// scales grows with the square root of the number of dimensions.
#include <span>
#include <vector>

#include "math/gp/input_warp.h"
#include "math/gp/mixed_rows.h"
#include "math/maximise.h"

namespace attune {

// Added to the covariance's diagonal, in variances of the signal: its Cholesky factor must exist.
constexpr double kJitter = 1e-8;

// Variances are in units of the targets'.
struct KernelParameters {
  std::vector<double> log_weights;  // of each dimension: log(1 / length scale^2)
  double log_signal = 0;            // of the signal's variance
  double log_noise = 0;             // of the noise's variance
  std::vector<Warp> warps = {};     // of each dimension, straight of categories; or none at all
};

// One number after the other: weights, signal, noise, warps if there are any; and back.
std::vector<double> pack(const KernelParameters& parameters);
KernelParameters unpack(std::span<const double> packed, std::size_t dimensions);
// How many numbers that are.
std::size_t packed_size(std::size_t dimensions, bool with_warps);

// Of packed parameters; the noise's variance is at least `least_noise`.
Box kernel_limits(const MixedRows& rows, double least_noise, bool with_warps);

// Logarithm of the prior's density at packed parameters, up to a constant, which is such that
// straight warps and none are equally likely; adds its derivatives to `gradient`. Dimensions are
// counted that are active in an average row.
double log_kernel_prior(const MixedRows& rows, std::span<const double> packed,
                        std::span<double> gradient);

}  // namespace attune
