#pragma once
// Forecasts where the reports of a trial will end (math/curves/curve_forecast.h).
#include <optional>
#include <span>

#include "base/trial.h"
#include "math/curves/curve_forecast.h"

namespace attune {

// The loss (assessors/loss.h) that report number `target` will have, counted from 1. Reports
// without a finite loss are left out, but count. Nothing if fewer than four families of curves can
// be fitted, which takes four different reports. Of a long history only every second, third, ...
// report is fitted: that is enough to show the bends of a curve.
std::optional<CurveForecast> forecast_reports(std::span<const Report> reports,
                                              const Objective& objective, double target);

}  // namespace attune
