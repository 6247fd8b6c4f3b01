#pragma once
// Where CMA-ES begins when there are results already. Source: Nomura, Watanabe, Akimoto, Ozaki,
// Onishi, "Warm Starting CMA-ES for Hyperparameter Optimization" (AAAI 2021), section 4: the best
// tenth of them is taken for draws of a mixture of normals of deviation 0.1 in the unit cube, and
// the first distribution is the normal with the mean and the covariance of that mixture.
#include <span>

#include "math/cma_es/cma_es.h"

namespace attune {

inline constexpr double kWarmShare = 0.1;
inline constexpr double kWarmDeviation = 0.1;

// `best` are results in the unit cube, all of the same dimensions, not empty; what is not active is
// not looked at. A coordinate that none of them has begins at 0.5 with the deviation `unknown`.
// `population` of the start is left to the caller.
CmaStart cma_warm_start(std::span<const CmaResult> best, double unknown, bool diagonal);

}  // namespace attune
