#include "tuners/parts/expected_improvement.h"

#include <catch2/catch.hpp>

#include "math/gp/gaussian_process.h"
#include "math/trees/forest.h"

namespace attune::expected_improvement_test {

using Numbers = std::vector<double>;

const Numbers kRows = {0.1, 0.4, 0.35, 0.8, 0.9, 0.2}, kTargets = {1, -1, 0.5};

TEST_CASE("expected improvement: of a Gaussian process, with its slope") {
  GaussianProcess model({0, 0});
  model.assign(kRows, {{2, 1}, 0, -6});
  model.set_targets(kTargets);
  const Acquisition acquisition = expected_improvement(model, -0.8);
  const Numbers row = {0.5, 0.6};
  Numbers gradient(2);
  const auto [mean, deviation] = model.predict(row);
  const double value = log_expected_improvement(mean, deviation, -0.8).value;
  CHECK(acquisition.climb(row, gradient) == Approx(value).epsilon(1e-9));
  const double h = 1e-6;
  const auto beside = acquisition.values(Numbers{0.5 + h, 0.6, 0.5 - h, 0.6,  //
                                                 0.5, 0.6 + h, 0.5, 0.6 - h});
  REQUIRE(beside.size() == 4);
  CHECK(gradient[0] == Approx((beside[0] - beside[1]) / (2 * h)).epsilon(1e-4));
  CHECK(gradient[1] == Approx((beside[2] - beside[3]) / (2 * h)).epsilon(1e-4));
}

TEST_CASE("expected improvement: of a forest, whose variance may be too small") {
  Forest model({0, 0}, {.trees = 4, .bootstrap = false});
  Rng rng(1);
  model.fit(kRows, kTargets, rng);
  const auto at_results = log_expected_improvements(model, kRows, -1.0, 0.01);
  REQUIRE(at_results.size() == 3);
  for (std::size_t i = 0; i < 3; ++i) {
    CHECK(model.predict(std::span(kRows).subspan(2 * i, 2)).variance == Approx(0).margin(1e-9));
    CHECK(at_results[i] == Approx(log_expected_improvement(kTargets[i], 0.01, -1).value));
  }
  const Numbers between = {0.6, 0.5};
  const auto [mean, variance] = model.predict(between);
  REQUIRE(variance > 1e-4);
  CHECK(log_expected_improvements(model, between, -1.0, 0.01)[0] ==
        log_expected_improvement(mean, std::sqrt(variance), -1).value);
}

}  // namespace attune::expected_improvement_test
