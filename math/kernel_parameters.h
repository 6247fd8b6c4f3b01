#pragma once
// Parameters of the kernel of math/gaussian_process.h: their limits, and what is believed of them
// before there are observations. Source: Hvarfner, Hellsten, Nardi, "Vanilla Bayesian Optimization
// Performs Great in High Dimensions" (ICML 2024), section 4: the prior of the length scales grows
// with the square root of the number of dimensions.
#include <span>
#include <vector>

#include "math/maximise.h"
#include "math/mixed_rows.h"

namespace attune {

// Variances are in units of the targets'.
struct KernelParameters {
  std::vector<double> log_weights;  // of each dimension: log(1 / length scale^2)
  double log_signal = 0;            // of the signal's variance
  double log_noise = 0;             // of the noise's variance
};

// One number after the other: weights, signal, noise; and back, at least two numbers.
std::vector<double> pack(const KernelParameters& parameters);
KernelParameters unpack(std::span<const double> packed);

// Of packed parameters of so many dimensions; the noise's variance is at least `least_noise`.
Box kernel_limits(std::size_t dimensions, double least_noise);

// Logarithm of the prior's density at packed parameters, up to a constant; adds its derivatives to
// `gradient`. Dimensions are counted that are active in an average row.
double log_kernel_prior(const MixedRows& rows, std::span<const double> packed,
                        std::span<double> gradient);

}  // namespace attune
