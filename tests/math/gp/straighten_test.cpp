#include "math/gp/straighten.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>

#include "base/rng.h"

namespace attune::straighten_test {

using Numbers = std::vector<double>;
using Rule = std::vector<double> (*)(std::span<const double>);
const Rule kRules[] = {standardised, straightened};

double moment(const Numbers& y, int power, double around = 0) {
  double sum = 0;
  for (const double v : y) sum += std::pow(v - around, power);
  return sum / static_cast<double>(y.size());
}

void check_standard(const Numbers& y) {
  CHECK(moment(y, 1) == Approx(0).margin(1e-9));
  CHECK(moment(y, 2) == Approx(1).epsilon(1e-6));
}

Numbers drawn(std::size_t n, double (*of_normal)(double)) {
  Rng rng(n);
  Numbers y(n);
  for (double& v : y) v = of_normal(rng.normal());
  return y;
}

double skewness(const Numbers& y) {
  return moment(y, 3, moment(y, 1)) / std::pow(moment(y, 2, moment(y, 1)), 1.5);
}

TEST_CASE("straighten: mean 0 and deviation 1 and the same order") {
  for (const Rule rule : kRules) {
    for (const std::size_t n : {2u, 3u, 10u, 400u}) {
      for (const auto of_normal :
           {+[](double z) { return 5 + 0.1 * z; }, +[](double z) { return std::exp(z); },
            +[](double z) { return -std::exp(2 * z); },
            +[](double z) { return std::floor(2 * z); }}) {
        Numbers losses = drawn(n, of_normal);
        losses.insert(losses.end(), {losses[0] - 1, losses[0] + 0.5});
        const Numbers y = rule(losses);
        REQUIRE(y.size() == losses.size());
        check_standard(y);
        for (std::size_t i = 0; i < y.size(); ++i) {
          for (std::size_t j = 0; j < y.size(); ++j) {
            if (losses[i] == losses[j] && y[i] != y[j]) FAIL("equal losses differ");
            if (losses[i] < losses[j] && y[i] > y[j]) FAIL("another order");
          }
        }
      }
    }
  }
}

TEST_CASE("straighten: outliers are moved to ten times the lower quartile") {
  // Lower quartile 3, median 5.
  const Numbers losses = {1, 2, 3, 4, 5, 23, 24, 26, 1e200},
                moved = {1, 2, 3, 4, 5, 23, 24, 25, 25};
  for (const Rule rule : kRules) {
    CHECK(rule(losses) == rule(moved));
    CHECK(rule(losses)[5] < rule(losses)[6]);
  }
  // Those below are results to be learnt from.
  const Numbers y = standardised(Numbers{-1000, 1, 2, 3, 4, 5, 6, 7});
  CHECK(y[1] - y[0] == Approx(1001 * (y[2] - y[1])));
}

TEST_CASE("straighten: the way back from a target, below a limit of one's own") {
  const Numbers losses = {-4, 10, 1, 7, 1e200};
  for (const double unit : {1e-300, 1.0, 1e107}) {
    Numbers scaled = losses;
    for (double& v : scaled) v *= unit;
    const Standardisation all = standardisation(scaled, 12 * unit);
    for (std::size_t k = 0; k < 4; ++k)
      CHECK((all.centre + all.unit * all.targets[k]) / unit == Approx(losses[k]));
    CHECK((all.centre + all.unit * all.targets[4]) / unit == Approx(12));
  }
  CHECK(standardisation(Numbers(3, 5.5), HUGE_VAL).unit == 0);
}

TEST_CASE("straighten: equal losses and single ones are 0") {
  for (const Rule rule : kRules) {
    CHECK(rule({}).empty());
    for (const double loss : {0.0, 0.1, -3.0, 1e300, -1e300, 1e-300, 5e-324, -1.7e308}) {
      for (const std::size_t n : {1u, 2u, 3u, 10u, 1000u}) {
        CAPTURE(loss, n);
        CHECK(rule(Numbers(n, loss)) == Numbers(n, 0.0));
      }
    }
  }
}

TEST_CASE("straighten: any magnitude gives the same") {
  const Numbers losses = drawn(50, [](double z) { return z; });
  for (const Rule rule : kRules) {
    const Numbers expected = rule(losses);
    for (const double unit : {0x1p-990, 0x1p-300, 0x1p300, 0x1p1015}) {
      Numbers scaled = losses;
      for (double& v : scaled) v *= unit;
      CHECK(rule(scaled) == expected);
    }
  }
}

TEST_CASE("straighten: extremes beside each other") {
  for (const Rule rule : kRules) {
    for (const Numbers& losses :
         {Numbers{-1e308, 1e308}, Numbers{1e308, -1e308, 0}, Numbers{-1e308, -1e308, 1e308, 1e308},
          Numbers{-1.7e308, -1, 1, 1.7e308, 1.7e308}, Numbers{1e-300, 1e300},
          Numbers{-1e300, 1e-300, 2e-300, 3e-300, 4e-300}, Numbers{0, 5e-324}}) {
      const Numbers y = rule(losses);
      check_standard(y);
      const auto lowest = std::ranges::min_element(losses) - losses.begin();
      const auto highest = std::ranges::max_element(losses) - losses.begin();
      CHECK(y[static_cast<std::size_t>(lowest)] == std::ranges::min(y));
      CHECK(y[static_cast<std::size_t>(highest)] == std::ranges::max(y));
    }
  }
}

TEST_CASE("straighten: skewed losses become less skewed and normal ones stay") {
  const Numbers lognormal = drawn(300, [](double z) { return std::exp(z); });
  const Numbers plain = standardised(lognormal), bent = straightened(lognormal);
  CHECK(skewness(plain) > 1.2);
  CHECK(std::abs(skewness(bent)) < 0.5);
  const Numbers mirrored = drawn(300, [](double z) { return -std::exp(z); });
  CHECK(skewness(standardised(mirrored)) < -2);
  CHECK(std::abs(skewness(straightened(mirrored))) < 1);
  const Numbers normal = drawn(300, [](double z) { return z; });
  const Numbers a = standardised(normal), b = straightened(normal);
  for (std::size_t i = 0; i < a.size(); ++i) CHECK(std::abs(a[i] - b[i]) < 0.3);
}

}  // namespace attune::straighten_test
