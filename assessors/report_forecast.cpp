#include "assessors/report_forecast.h"

#include <cmath>
#include <vector>

#include "assessors/loss.h"

namespace attune {
namespace {

constexpr std::size_t kFewestCurves = 4;  // as in NNI
constexpr std::size_t kMostPoints = 100;

}  // namespace

std::optional<CurveForecast> forecast_reports(std::span<const Report> reports,
                                              const Objective& objective, double target) {
  if (reports.empty()) return std::nullopt;
  const std::size_t stride = (reports.size() + kMostPoints - 1) / kMostPoints;
  std::vector<CurvePoint> points;
  for (std::size_t i = (reports.size() - 1) % stride; i < reports.size(); i += stride) {
    const double loss = loss_of(reports[i], objective);
    if (!std::isnan(loss)) points.push_back({static_cast<double>(i + 1), loss});
  }
  auto forecast = forecast_curve(points, target);
  if (forecast && forecast->components.size() < kFewestCurves) return std::nullopt;
  return forecast;
}

}  // namespace attune
