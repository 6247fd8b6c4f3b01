#pragma once
// Powers of losses that lie over decades. A model of such losses as they are sees no difference
// among the good ones. Box, Cox, "An Analysis of Transformations" (Journal of the Royal Statistical
// Society B, 1964); 0 stands for the logarithm.
#include <array>
#include <span>
#include <vector>

#include "math/gp/gaussian_process.h"

namespace attune {

inline constexpr std::array kPowers = {1.0, 0.5, 0.25, 0.0};

// Each loss to this power, or its logarithm. The losses are positive unless the power is 1.
std::vector<double> to_power(std::span<const double> losses, double power);

// The power of kPowers with which a Gaussian process explains the losses best: the posterior
// density of the losses themselves, after a fit of at most `evaluations` from the parameters of
// `model` (0: at these parameters). Another one than 1 must be 20 times as likely. It is 1 if there
// are fewer than five losses, if not all are positive, or if the largest is less than ten times the
// least (but for outliers, see straighten.h). `rows` as in GaussianProcess::assign(), one for each
// loss. O(n^3) for each evaluation.
double likeliest_power(const GaussianProcess& model, std::span<const double> rows,
                       std::span<const double> losses, int evaluations);

}  // namespace attune
