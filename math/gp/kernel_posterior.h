#pragma once
// Scores parameters of a kernel (math/gp/kernel_parameters.h): the logarithm of the marginal
// likelihood of the targets times the prior, and its gradient (Rasmussen, Williams, "Gaussian
// Processes for Machine Learning", 2006, section 5.4.1).
#include <span>

#include "math/gp/warped_rows.h"

namespace attune {

// The value at packed parameters `packed`, up to a constant. `targets` are those of the first rows,
// with mean 0 and deviation 1. Writes the gradient in the order of pack(). Sets `rows` to these
// parameters. NaN if the covariance has no Cholesky factor. O(n^3 + d n^2) for n targets and d
// dimensions.
double log_kernel_posterior(WarpedRows& rows, std::span<const double> targets,
                            std::span<const double> packed, std::span<double> gradient);

}  // namespace attune
