#pragma once
// How well parameters of a kernel (math/gp/kernel_parameters.h) explain targets: the logarithm of
// the marginal likelihood times the prior, and its gradient (Rasmussen, Williams, "Gaussian
// Processes for Machine Learning", 2006, section 5.4.1).
#include <span>

#include "math/gp/warped_rows.h"

namespace attune {

// At packed parameters, up to a constant, given targets of the first rows, mean 0 and deviation 1;
// writes the gradient in the same order. Leaves `rows` set to the parameters. NaN where the
// covariance has no Cholesky factor. O(n^3 + d n^2) for n targets and d dimensions.
double log_kernel_posterior(WarpedRows& rows, std::span<const double> targets,
                            std::span<const double> packed, std::span<double> gradient);

}  // namespace attune
