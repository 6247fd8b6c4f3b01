#include "math/cma_es/cma_es_rates.h"

#include <algorithm>
#include <cmath>

#include "base/check.h"

namespace attune {
namespace {

struct Sums {
  double sum = 0, squares = 0;
  void add(double w) {
    sum += w;
    squares += w * w;
  }
  double effective() const { return squares > 0 ? sum * sum / squares : 0; }
};

}  // namespace

CmaRates cma_rates(std::size_t dimensions, std::size_t results, bool diagonal) {
  ATTUNE_CHECK(dimensions >= 1 && results >= 2);
  const auto n = static_cast<double>(dimensions);
  const auto lambda = static_cast<double>(results);
  CmaRates rates;
  Sums best, worst;
  for (std::size_t i = 1; i <= results; ++i) {
    const double w = std::log((lambda + 1) / 2) - std::log(static_cast<double>(i));
    rates.weights.push_back(w);
    if (w > 0) ++rates.parents;
    (w > 0 ? best : worst).add(w);
  }
  const double mu = rates.effective = best.effective();

  rates.step_path = (mu + 2) / (n + mu + 5);
  rates.damping = 1 + 2 * std::max(0.0, std::sqrt((mu - 1) / (n + 1)) - 1) + rates.step_path;
  rates.covariance_path = (4 + mu / n) / (n + 4 + 2 * mu / n);
  const double faster = diagonal ? (n + 2) / 3 : 1;
  rates.rank_one = std::min(0.5, faster * 2 / ((n + 1.3) * (n + 1.3) + mu));
  rates.rank_mu = std::min(1 - rates.rank_one,
                           faster * 2 * (0.25 + mu + 1 / mu - 2) / ((n + 2) * (n + 2) + mu));

  // The sum of the negative weights is the least of three: with the first, the weighted updates of
  // the covariance add up to zero; the second is what their effective number allows; the third
  // keeps the matrix positive definite.
  const double balance = 1 + (rates.rank_mu > 0 ? rates.rank_one / rates.rank_mu : 0);
  const double effective = 1 + 2 * worst.effective() / (mu + 2);
  const double definite =
      rates.rank_mu > 0 ? (1 - rates.rank_one - rates.rank_mu) / (n * rates.rank_mu) : 0;
  const double negative = std::min({balance, effective, definite});
  for (double& w : rates.weights) {
    if (w > 0) {
      w /= best.sum;
    } else if (worst.sum < 0) {
      w *= negative / -worst.sum;
    }
    rates.weight_sum += w;
  }
  return rates;
}

std::size_t cma_population(std::size_t dimensions) {
  const double n = std::max(1.0, static_cast<double>(dimensions));
  return 4 + static_cast<std::size_t>(3 * std::log(n));
}

}  // namespace attune
