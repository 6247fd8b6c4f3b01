#pragma once
// Computes the first distribution of CMA-ES from results that exist already. Source: Nomura,
// Watanabe, Akimoto, Ozaki, Onishi, "Warm Starting CMA-ES for Hyperparameter Optimization" (AAAI
// 2021), section 4. The best tenth of the results are taken as the centres of a mixture of normals
// with deviation 0.1 in the unit cube; the first distribution is the normal with the mean and the
// covariance of this mixture.
#include <span>

#include "math/cma_es/cma_es.h"

namespace attune {

inline constexpr double kWarmShare = 0.1;
inline constexpr double kWarmDeviation = 0.1;

// `best`: results in the unit cube, not empty, all with the same dimensions. Inactive coordinates
// are ignored. A coordinate that no result has begins at 0.5 with the deviation `unknown`. The
// caller sets the start's `population`.
CmaStart cma_warm_start(std::span<const CmaResult> best, double unknown, bool diagonal);

}  // namespace attune
