#include "math/gp/log_improvement.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <limits>

namespace attune::log_improvement_test {

const long double kLogSqrt2Pi = 0.5L * std::log(2 * std::acos(-1.0L));

// The integral of t exp(-t^2 / 2 + zt) or exp(-t^2 / 2 + zt) over t > 0 by Simpson's rule: the
// improvement and the probability divided by the density, for z <= 0.
long double over_density(long double z, bool improvement) {
  const int n = 200000;
  const long double end = 30 / (1 - z / 30), h = end / n;  // the integrand is below e^-400 there
  long double sum = 0;
  for (int i = 0; i <= n; ++i) {
    const long double t = h * i;
    const long double value = (improvement ? t : 1) * std::exp(-0.5L * t * t + z * t);
    sum += value * (i == 0 || i == n ? 1 : i % 2 ? 4 : 2);
  }
  return sum * h / 3;
}

long double log_density(long double z) { return -0.5L * z * z - kLogSqrt2Pi; }

// z^-2 - 3 z^-4 + 15 z^-6 - 105 z^-8 + ...
long double series(long double z) {
  long double term = 1 / (z * z), sum = term;
  for (int k = 3; k <= 13; k += 2) sum += term *= -k / (z * z);
  return sum;
}

// Of the exponentials; logarithms in double cannot be closer than their own rounding.
void check_close(double log_value, long double expected, double error) {
  const double rounding =
      4 * std::numeric_limits<double>::epsilon() * static_cast<double>(std::abs(expected));
  CHECK(std::abs(log_value - expected) <= error + rounding);
}

double slope(double (*f)(double), double z) {
  const double step = 1e-5 * std::max(1.0, std::abs(z));
  return (f(z + step) - f(z - step)) / (2 * step);
}

TEST_CASE("log improvement: as by numerical integration") {
  for (const double z : {-60.0, -20.0, -7.1, -7.0, -3.0, -1.01, -1.0, -0.99, -0.5, 0.0}) {
    CAPTURE(z);
    const long double density = log_density(z);
    check_close(log_improvement(z), density + std::log(over_density(z, true)), 1e-10);
    check_close(log_normal_probability(z), density + std::log(over_density(z, false)), 1e-13);
    CHECK(normal_hazard(z) ==
          Approx(static_cast<double>(1 / over_density(z, false))).epsilon(1e-12));
  }
  for (const double z : {-0.9, 0.3, 1.0, 3.0, 8.0, 40.0, 1e5}) {
    CAPTURE(z);
    const long double density = std::exp(log_density(z));
    const long double probability = 0.5L * std::erfc(-z / std::sqrt(2.0L));
    check_close(log_improvement(z), std::log(density + z * probability), 1e-13);
    check_close(log_normal_probability(z), std::log(probability), 1e-15);
    CHECK(normal_hazard(z) == Approx(static_cast<double>(density / probability)).epsilon(1e-12));
  }
  CHECK(log_improvement(0) == Approx(std::log(0.3989422804014327)));
}

TEST_CASE("log improvement: as the asymptotic series far out") {
  for (const double z : {-40.0, -199.0, -201.0, -300.0, -1e4, -1e6}) {
    CAPTURE(z);
    check_close(log_improvement(z), log_density(z) + std::log(series(z)), 1e-10);
    CHECK(normal_hazard(z) == Approx(-z / (1 - 1 / (z * z) + 3 / std::pow(z, 4))).epsilon(1e-7));
    const long double above = std::log1p(-1 / (z * z) + 3 / std::pow(z, 4));
    check_close(log_normal_probability(z), log_density(z) - std::log(-z) + above, 1e-7);
  }
  check_close(log_improvement(-10), log_density(-10) + std::log(series(-10)), 1e-6);
}

TEST_CASE("log improvement: increasing and without steps where formulas change") {
  const double switched = -5 * std::sqrt(2);  // of the scaled erfc
  for (const double z : {-200.0, switched, -1.0, 0.0}) {
    for (const auto f : {log_improvement, log_normal_probability, normal_hazard}) {
      CAPTURE(z);
      const double step = 1e-9 * std::max(1.0, std::abs(z));
      const double below = f(z - step), above = f(z + step);
      const double expected = 2 * step * slope(f, z - 0.01);
      CHECK(above - below == Approx(expected).epsilon(0.1).margin(2e-11 * (1 + std::abs(below))));
    }
  }
  double last = -std::numeric_limits<double>::infinity(), hazard = 1e300;
  for (double z = -300; z < 9; z += 0.037) {
    CHECK(log_improvement(z) > last);
    CHECK(normal_hazard(z) < hazard);
    last = log_improvement(z);
    hazard = normal_hazard(z);
  }
}

TEST_CASE("log improvement: the derivatives are those of the value") {
  for (const double z : {-250.0, -30.0, -7.07, -1.5, -1.0, 0.0, 2.0, 10.0}) {
    CAPTURE(z);
    CHECK(normal_hazard(z) == Approx(slope(log_normal_probability, z)).epsilon(1e-5).margin(1e-10));
    const double best = 0.4, deviation = 0.3, mean = best - z * deviation, step = 1e-6;
    const LogImprovement at = log_expected_improvement(mean, deviation, best);
    CHECK(at.value == Approx(std::log(deviation) + log_improvement(z)));
    const auto value = [&](double m, double d) {
      return log_expected_improvement(m, d, best).value;
    };
    const double by_mean = (value(mean + step, deviation) - value(mean - step, deviation)) / 2e-6;
    const double by_deviation =
        (value(mean, deviation + step) - value(mean, deviation - step)) / 2e-6;
    CHECK(at.by_mean == Approx(by_mean).epsilon(1e-4).margin(1e-8));
    CHECK(at.by_deviation == Approx(by_deviation).epsilon(1e-4).margin(1e-8));
  }
}

TEST_CASE("log improvement: finite for whatever a model predicts") {
  for (const double size : {1e-300, 1e-9, 1.0, 30.0, 1e3, 1e4, 1e5, 1e6}) {
    for (const double z : {-size, size}) {
      CAPTURE(z);
      CHECK(std::isfinite(log_improvement(z)));
      CHECK(std::isfinite(log_normal_probability(z)));
      CHECK(log_normal_probability(z) <= 0);
      CHECK(std::isfinite(normal_hazard(z)));
      CHECK(normal_hazard(z) >= 0);
      const LogImprovement at = log_expected_improvement(-z * 1e-5, 1e-5, 0);
      CHECK(std::isfinite(at.value));
      CHECK(std::isfinite(at.by_mean));
      CHECK(std::isfinite(at.by_deviation));
      CHECK(at.by_mean <= 0);
      CHECK(at.by_deviation >= 0);
    }
  }
}

}  // namespace attune::log_improvement_test
