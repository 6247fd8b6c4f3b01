#include "tuners/parts/prior_belief.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "math/mean_ranks.h"

namespace attune {
namespace {

// piBO's beta.
constexpr double kBeta = 10;
// A smaller power hardly changes a proposal. Then the results are not even ranked.
constexpr double kLeastPower = 0.02;
constexpr std::size_t kFewestAgainst = 5;  // results that can speak against a prior
// Of the rank correlation, in its standard deviations without any relation.
constexpr double kAgainst = 1;

// Of ranks: both have the mean of 1, ..., n.
double correlation(const std::vector<double>& a, const std::vector<double>& b) {
  const double mean = static_cast<double>(a.size() + 1) / 2;
  double ab = 0, aa = 0, bb = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    ab += (a[i] - mean) * (b[i] - mean);
    aa += (a[i] - mean) * (a[i] - mean);
    bb += (b[i] - mean) * (b[i] - mean);
  }
  return aa > 0 && bb > 0 ? ab / std::sqrt(aa * bb) : 0;
}

bool misleads(const Priors& priors, const History& history) {
  std::vector<std::size_t> usable;
  for (std::size_t i = 0; i < history.size(); ++i) {
    if (history.kind(i) == History::Kind::usable) usable.push_back(i);
  }
  if (usable.size() < kFewestAgainst) return false;
  std::vector<double> density, place;
  for (const std::size_t i : history.ranked(std::move(usable))) {
    density.push_back(priors.log_density(history.row(i)));
    place.push_back(static_cast<double>(place.size() + 1));  // the best result stands first
  }
  const double rank_correlation = correlation(mean_ranks(density), place);
  return rank_correlation * std::sqrt(static_cast<double>(place.size() - 1)) > kAgainst;
}

}  // namespace

double prior_belief(const Priors& priors, const History& history, std::size_t since) {
  if (priors.empty()) return 0;
  const std::size_t n = std::max<std::size_t>(history.size() - since, 1);
  const double power = kBeta / static_cast<double>(n);
  return power < kLeastPower || misleads(priors, history) ? 0 : power;
}

Acquisition times_prior(Acquisition acquisition, const Priors& priors, double power) {
  Acquisition both;
  both.values = [values = std::move(acquisition.values), &priors,
                 power](std::span<const double> rows) {
    std::vector<double> all = values(rows);
    const std::size_t d = all.empty() ? 0 : rows.size() / all.size();
    for (std::size_t i = 0; i < all.size(); ++i) {
      all[i] += power * priors.log_density(rows.subspan(i * d, d));
    }
    return all;
  };
  if (!acquisition.climb) return both;
  both.climb = [climb = std::move(acquisition.climb), &priors, power](std::span<const double> row,
                                                                      std::span<double> gradient) {
    const double value = climb(row, gradient);
    return value + power * priors.log_density(row, gradient, power);
  };
  return both;
}

}  // namespace attune
