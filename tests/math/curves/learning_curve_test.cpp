#include "math/curves/learning_curve.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <set>

#include "base/rng.h"

namespace attune::learning_curve_test {

CurveFamily family(std::size_t i) { return static_cast<CurveFamily>(i); }

ShapeParameters random_shape(const CurveForm& form, Rng& rng) {
  return {rng.uniform(form.low[0], form.high[0]), rng.uniform(form.low[1], form.high[1])};
}

TEST_CASE("learning curves: the formulas of the paper") {
  const double x = 7;
  const ShapeParameters s = {0.8, -1.3};
  const auto [p, q] = s;
  const auto shape = [&](CurveFamily f) { return shape_at(f, s, x).value; };
  using enum CurveFamily;
  CHECK(shape(vap) == Approx(std::exp(p / x + q * std::log(x))));
  CHECK(shape(pow3) == Approx(std::pow(x, -p)));
  CHECK(shape(linear) == x);
  CHECK(shape(logx_linear) == Approx(std::log(x)));
  const double kappa = std::exp(q);
  CHECK(shape(dr_hill_zero_background) ==
        Approx(std::pow(x, p) / (std::pow(kappa, p) + std::pow(x, p))));
  CHECK(shape(log_power) == Approx(1 / (1 + std::pow(x / std::exp(q), p))));
  // c - (a x + b)^-alpha is c - a^-alpha (x + b / a)^-alpha.
  CHECK(shape(pow4) == Approx(std::pow(x + (kappa - 1), -p)));
  CHECK(shape(mmf) == Approx(1 / (1 + std::pow(kappa * x, p))));
  CHECK(shape(exp4) == Approx(std::exp(-kappa * std::pow(x, p))));
  CHECK(shape(ilog2) == Approx(1 / std::log(x + 1)));
  CHECK(shape(weibull) == Approx(std::exp(-std::pow(kappa * x, p))));
  CHECK(shape(janoschek) == Approx(std::exp(-kappa * std::pow(x, p))));
  const LearningCurve curve = {pow3, 0.9, -0.4, {0.5, 0}};
  CHECK(curve.predict(4) == Approx(0.9 - 0.4 / 2));
}

TEST_CASE("learning curves: gradients are those of finite differences") {
  Rng rng(3);
  for (std::size_t i = 0; i < kCurveFamilies; ++i) {
    const CurveForm& form = form_of(family(i));
    CAPTURE(form.name);
    for (int k = 0; k < 200; ++k) {
      // Away from the bounds, where values have many magnitudes.
      const ShapeParameters at = {
          rng.uniform(std::max(form.low[0], -2.0), std::min(form.high[0], 2.0)),
          rng.uniform(std::max(form.low[1], -2.0), std::min(form.high[1], 2.0))};
      const double x = rng.uniform(1, 30);
      const Shape shape = shape_at(family(i), at, x);
      for (std::size_t j = 0; j < 2; ++j) {
        constexpr double h = 1e-5;
        ShapeParameters before = at, after = at;
        before[j] -= h;
        after[j] += h;
        const double difference =
            (shape_at(family(i), after, x).value - shape_at(family(i), before, x).value) / (2 * h);
        CAPTURE(at[0], at[1], x, j);
        if (j >= form.shape_parameters) REQUIRE(difference == 0);
        REQUIRE(shape.gradient[j] ==
                Approx(difference).epsilon(1e-5).margin(1e-6 * (1 + std::abs(shape.value))));
      }
    }
  }
}

TEST_CASE("learning curves: finite anywhere inside the bounds, corners included") {
  Rng rng(4);
  std::set<std::string_view> names;
  for (std::size_t i = 0; i < kCurveFamilies; ++i) {
    const CurveForm& form = form_of(family(i));
    CAPTURE(form.name);
    CHECK(names.insert(form.name).second);
    for (int k = 0; k < 300; ++k) {
      ShapeParameters at = random_shape(form, rng);
      if (k < 4) at = {(k & 1) ? form.high[0] : form.low[0], (k & 2) ? form.high[1] : form.low[1]};
      for (const double x : {1.0, 2.0, 50.0, 1e6}) {
        const Shape shape = shape_at(family(i), at, x);
        CAPTURE(at[0], at[1], x);
        REQUIRE(std::isfinite(shape.value));
        REQUIRE(std::isfinite(shape.gradient[0]));
        REQUIRE(std::isfinite(shape.gradient[1]));
      }
    }
  }
}

}  // namespace attune::learning_curve_test
