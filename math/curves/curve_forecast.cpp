#include "math/curves/curve_forecast.h"

#include <algorithm>
#include <boost/math/distributions/students_t.hpp>
#include <cmath>

namespace attune {
namespace {

constexpr double kFarTail = 1e8;  // Boost throws at infinity

// -BIC / 2. An error below `floor` is only rounding and counts as `floor`: so of two exact fits the
// one with fewer parameters wins.
double log_evidence(const CurveFit& fit, double n, double floor) {
  const auto parameters = static_cast<double>(form_of(fit.curve.family).parameters());
  return -0.5 * (n * std::log(std::max(fit.squared_error, floor) / n) + parameters * std::log(n));
}

}  // namespace

double CurveForecast::mean() const {
  double sum = 0;
  for (const Component& one : components) sum += one.weight * one.mean;
  return sum;
}

double CurveForecast::probability_below(double y) const {
  double sum = 0;
  for (const Component& one : components) {
    const double t = std::clamp((y - one.mean) / one.deviation, -kFarTail, kFarTail);
    sum += one.weight * boost::math::cdf(boost::math::students_t(one.freedom), t);
  }
  return sum;
}

std::optional<CurveForecast> forecast_curve(std::span<const CurvePoint> points, double target) {
  double largest = 0;
  for (const CurvePoint& point : points) largest = std::max(largest, std::abs(point.y));
  const double rounding = std::max(1e-12 * largest, 1e-150);
  const auto n = static_cast<double>(points.size());

  CurveForecast forecast;
  std::vector<double> evidence;
  for (std::size_t k = 0; k < kCurveFamilies; ++k) {
    const auto family = static_cast<CurveFamily>(k);
    const auto fit = fit_curve(family, points);
    if (!fit) continue;
    const double mean = fit->curve.predict(target);
    const double deviation = std::max(fit->deviation(points, target), rounding);
    if (!std::isfinite(mean) || !std::isfinite(deviation)) continue;
    const auto parameters = static_cast<double>(form_of(family).parameters());
    forecast.components.push_back({family, mean, deviation, n - parameters, 0});
    evidence.push_back(log_evidence(*fit, n, rounding * rounding * n));
  }
  if (evidence.empty()) return std::nullopt;

  const double best = std::ranges::max(evidence);
  double total = 0;
  for (double& one : evidence) total += one = std::exp(one - best);
  for (std::size_t k = 0; k < evidence.size(); ++k) {
    forecast.components[k].weight = evidence[k] / total;
  }
  return forecast;
}

}  // namespace attune
