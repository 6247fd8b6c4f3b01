#pragma once
// Selection weights and learning rates of CMA-ES.
//
// Source: Hansen, "The CMA Evolution Strategy: A Tutorial" (arXiv 1604.00772, 2016), table 1, with
// negative weights (active covariance update). With a diagonal covariance matrix its rates are
// (n + 2) / 3 times as large: Ros, Hansen, "A Simple Modification in CMA-ES Achieving Linear Time
// and Space Complexity" (PPSN 2008), section 3.
#include <cstddef>
#include <vector>

namespace attune {

struct CmaRates {
  std::vector<double> weights;  // of the results, best first; the positive ones add up to 1
  std::size_t parents = 0;      // how many are positive
  double effective = 0;         // variance-effective number of parents, mu_eff >= 1
  double step_path = 0;         // c_sigma
  double damping = 0;           // d_sigma
  double covariance_path = 0;   // c_c
  double rank_one = 0;          // c_1
  double rank_mu = 0;           // c_mu
  double weight_sum = 0;        // of all weights
};

// The rates for n = `dimensions` >= 1 and `results` >= 2 in a generation.
CmaRates cma_rates(std::size_t dimensions, std::size_t results, bool diagonal);

// The default number of results in a generation: 4 + floor(3 ln n).
std::size_t cma_population(std::size_t dimensions);

}  // namespace attune
