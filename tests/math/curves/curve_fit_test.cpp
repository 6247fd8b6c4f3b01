#include "math/curves/curve_fit.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <vector>

#include "base/rng.h"
#include "math/curves/curve_forecast.h"

namespace attune::curve_fit_test {

std::vector<CurvePoint> measure(const LearningCurve& curve, int n, double noise = 0,
                                std::uint64_t seed = 1) {
  Rng rng(seed);
  std::vector<CurvePoint> points;
  for (int x = 1; x <= n; ++x) {
    points.push_back({double(x), curve.predict(x) + noise * rng.normal()});
  }
  return points;
}

// One curve of each family that looks like an accuracy, and its mirror image, like a loss.
std::vector<LearningCurve> examples() {
  using enum CurveFamily;
  std::vector<LearningCurve> all = {
      {vap, 0, 0.8, {-1, 0.05}},
      {pow3, 0.9, -0.6, {0.7, 0}},
      {linear, 0.3, 0.02, {}},
      {logx_linear, 0.4, 0.1, {}},
      {dr_hill_zero_background, 0, 0.9, {0.9, 1}},
      {log_power, 0, 0.85, {-0.7, 1.2}},
      {pow4, 0.95, -0.8, {0.8, 1}},
      {mmf, 0.9, -0.7, {1.3, -1.5}},
      {exp4, 0.9, -0.7, {0.8, -1}},
      {ilog2, 0.95, -0.4, {}},
      {weibull, 0.9, -0.8, {1.2, -1.6}},
      {janoschek, 0.88, -0.6, {1.1, -1.8}},
  };
  for (std::size_t i = 0; i < kCurveFamilies; ++i) {
    LearningCurve mirrored = all[i];
    mirrored.background *= -1;
    mirrored.scale *= -1;
    all.push_back(mirrored);
  }
  return all;
}

TEST_CASE("fits: a family finds its own curve again, in any unit") {
  for (const LearningCurve& curve : examples()) {
    for (const double unit : {1.0, 1e-6, 1e9}) {
      LearningCurve scaled = curve;
      scaled.background *= unit;
      scaled.scale *= unit;
      const auto points = measure(scaled, 12);
      const auto fit = fit_curve(curve.family, points);
      CAPTURE(form_of(curve.family).name, unit);
      REQUIRE(fit);
      CHECK(std::sqrt(fit->squared_error / 12) < 1e-4 * unit);
      CHECK(fit->curve.predict(30) == Approx(scaled.predict(30)).epsilon(0.01));
    }
  }
}

TEST_CASE("fits: least squares, no neighbour in any parameter is better") {
  const auto error = [](const LearningCurve& curve, const std::vector<CurvePoint>& points) {
    double sum = 0;
    for (const CurvePoint& point : points) sum += std::pow(point.y - curve.predict(point.x), 2);
    return sum;
  };
  for (const LearningCurve& curve : examples()) {
    const CurveForm& form = form_of(curve.family);
    CAPTURE(form.name);
    const auto points = measure(curve, 15, 0.02, 7);
    const auto fit = fit_curve(curve.family, points);
    REQUIRE(fit);
    CHECK(fit->squared_error == Approx(error(fit->curve, points)));
    for (const double step : {-1e-3, 1e-3}) {
      std::vector<LearningCurve> neighbours(4, fit->curve);
      if (form.background) neighbours[0].background += step;
      neighbours[1].scale += step;
      for (std::size_t k = 0; k < form.shape_parameters; ++k) {
        auto& shape = neighbours[2 + k].shape[k];
        shape = std::clamp(shape + step, form.low[k], form.high[k]);
      }
      for (const auto& neighbour : neighbours) {
        CHECK(error(neighbour, points) >= fit->squared_error * (1 - 1e-6));
      }
    }
  }
}

TEST_CASE("fits: a constant, two values, huge and tiny numbers never give NaN") {
  const std::vector<std::vector<double>> shapes = {
      {1, 1, 1, 1, 1, 1, 1},       {0, 0, 0, 0, 0, 0, 0},
      {0, 1, 0, 1, 0, 1, 0},       {0, 0, 0, 0, 0, 0, 1},
      {1, 0, 0, 0, 0, 0, 0},       {1, 2, 4, 8, 16, 32, 64},
      {1, -1, 1, -1, 5, 3, -1e12}, {1e-12, 0, 1, 1, 1, 1, 1 + 1e-15}};
  for (const auto& shape : shapes) {
    for (const double unit : {1.0, -1.0, 1e-300, 1e300}) {
      std::vector<CurvePoint> points;
      for (const double y : shape) points.push_back({double(points.size() + 1), y * unit});
      for (std::size_t i = 0; i < kCurveFamilies; ++i) {
        const auto fit = fit_curve(static_cast<CurveFamily>(i), points);
        if (!fit) continue;
        CAPTURE(i, unit);
        CHECK(std::isfinite(fit->squared_error));
        CHECK(std::isfinite(fit->curve.predict(20)));
        CHECK_FALSE(std::isnan(fit->deviation(points, 20)));
      }
      const auto forecast = forecast_curve(points, 20);
      if (forecast) {
        CHECK(std::isfinite(forecast->mean()));
        CHECK(forecast->probability_below(0) >= 0);
        CHECK(forecast->probability_below(0) <= 1);
      }
    }
  }
}

TEST_CASE("fits: too few points, and points that are no measurements, are left out") {
  const auto points = measure({CurveFamily::pow3, 1, -1, {0.5, 0}}, 4);
  CHECK(fit_curve(CurveFamily::pow3, points));
  CHECK_FALSE(fit_curve(CurveFamily::pow3, std::span(points).first(3)));
  CHECK_FALSE(fit_curve(CurveFamily::mmf, points));
  CHECK_FALSE(fit_curve(CurveFamily::linear, {}));
  CHECK_FALSE(forecast_curve({}, 20));
  for (const CurvePoint& bad : {CurvePoint{2, NAN}, CurvePoint{2, INFINITY}, CurvePoint{0.5, 1}}) {
    auto damaged = points;
    damaged[1] = bad;
    CHECK_FALSE(fit_curve(CurveFamily::linear, damaged));
  }
}

TEST_CASE("the deviation of a straight line is the textbook's") {
  const auto points = measure({CurveFamily::linear, 1, 2, {}}, 10, 0.3, 5);
  const auto fit = fit_curve(CurveFamily::linear, points);
  REQUIRE(fit);
  // Mean of x 5.5, sum of squares around it 82.5.
  const double noise = fit->squared_error / 8;
  const double expected = std::sqrt(noise * (1 + 1 / 10.0 + std::pow(20 - 5.5, 2) / 82.5));
  CHECK(fit->deviation(points, 20) == Approx(expected));
}

TEST_CASE("forecasts: the end of a saturating curve, with a deviation that means something") {
  const LearningCurve truth = {CurveFamily::exp4, 0.9, -0.7, {1, -1.2}};
  int covered = 0;
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    const auto forecast = forecast_curve(measure(truth, 12, 0.01, seed), 20);
    REQUIRE(forecast);
    CHECK(forecast->mean() == Approx(truth.predict(20)).margin(0.1));
    const double p = forecast->probability_below(truth.predict(20));
    covered += p > 0.05 && p < 0.95;
    double weights = 0;
    for (const auto& component : forecast->components) weights += component.weight;
    CHECK(weights == Approx(1));
    CHECK(forecast->probability_below(-1e9) == Approx(0).margin(1e-6));
    CHECK(forecast->probability_below(1e9) == Approx(1));
  }
  CHECK(covered >= 40);  // 45 if it were exact
}

}  // namespace attune::curve_fit_test
