#include "math/gp/scalarised_improvement.h"

#include <catch2/catch.hpp>
#include <cmath>

#include "base/rng.h"
#include "math/gp/log_improvement.h"

namespace attune::scalarised_improvement_test {

using Numbers = std::vector<double>;

const Numbers kResults = {0.1, 0.8, 0.3, 0.5, 0.6, 0.3};
const Numbers kReference = {1, 1.2}, kWeights = {0.4, 0.9}, kIdeal = {-1, -1};

double value(const ScalarisedImprovement& improvement, const Numbers& means,
             const Numbers& deviations) {
  Numbers by_mean(means.size()), by_deviation(means.size());
  return improvement.log_expectation(means, deviations, by_mean, by_deviation);
}

double ray(const Numbers& row) {
  return std::min((kReference[0] - row[0]) / kWeights[0], (kReference[1] - row[1]) / kWeights[1]);
}

double best_ray() {
  double best = -HUGE_VAL;
  for (std::size_t at = 0; at < kResults.size(); at += 2) {
    best = std::max(best, ray({kResults[at], kResults[at + 1]}));
  }
  return best;
}

TEST_CASE("scalarised improvement: of one objective it is the expected improvement") {
  const ScalarisedImprovement improvement(Numbers{0.7, 0.2, 0.4}, Numbers{1}, Numbers{1},
                                          Numbers{-1.5});
  for (const double mean : {-0.2, 0.2, 0.6}) {
    const LogImprovement expected = log_expected_improvement(mean, 0.3, 0.2);
    CHECK(value(improvement, {mean}, {0.3}) == Approx(expected.value).margin(0.02));
  }
}

TEST_CASE("scalarised improvement: the expectation over random results") {
  const ScalarisedImprovement improvement(kResults, kReference, kWeights, kIdeal);
  const Numbers means = {0.2, 0.4}, deviations = {0.3, 0.2};
  Rng rng(1);
  constexpr int kDraws = 200000;
  double mean = 0;
  for (int i = 0; i < kDraws; ++i) {
    const Numbers row = {means[0] + deviations[0] * rng.normal(),
                         means[1] + deviations[1] * rng.normal()};
    mean += std::max(0.0, ray(row) - best_ray()) / kDraws;
  }
  CHECK(std::exp(value(improvement, means, deviations)) == Approx(mean).epsilon(0.03));
}

TEST_CASE("scalarised improvement: an improvement beyond the ideal does not count") {
  const double short_of = ray({0.2, 0.2});
  const ScalarisedImprovement improvement(kResults, kReference, kWeights, Numbers{0.2, 0.2});
  CHECK(std::exp(value(improvement, {-9, -9}, {0.1, 0.1})) == Approx(short_of - best_ray()));
}

TEST_CASE("scalarised improvement: the derivatives are those of differences") {
  const ScalarisedImprovement improvement(kResults, kReference, kWeights, kIdeal);
  constexpr double kStep = 1e-6;
  // The last is far worse than all results: there only the logarithm has a slope.
  for (const double worse : {0.0, 0.5, 20.0}) {
    const Numbers means = {0.2 + worse, 0.5}, deviations = {0.3, 0.2};
    Numbers by_mean(2), by_deviation(2);
    const double at = improvement.log_expectation(means, deviations, by_mean, by_deviation);
    CHECK(std::isfinite(at));
    for (std::size_t j = 0; j < 2; ++j) {
      Numbers more = means, wider = deviations;
      more[j] += kStep;
      wider[j] += kStep;
      CHECK((value(improvement, more, deviations) - at) / kStep ==
            Approx(by_mean[j]).epsilon(1e-3).margin(1e-3));
      CHECK((value(improvement, means, wider) - at) / kStep ==
            Approx(by_deviation[j]).epsilon(1e-3).margin(1e-3));
    }
  }
}

}  // namespace attune::scalarised_improvement_test
