#pragma once
// Forecasts where a learning curve will end, as an average over the families of
// math/curves/learning_curve.h.
//
// Each family that can be fitted predicts a Student's t distribution with a mean and a deviation.
// The families are weighted by an approximation of their probability given the points (Schwarz,
// "Estimating the Dimension of a Model", 1978: exp(-BIC / 2)). Domhan et al. (2015, section 3.2)
// run a Markov chain over the weights instead: the same idea, but this one draws no random numbers.
#include <optional>
#include <span>
#include <vector>

#include "math/curves/curve_fit.h"

namespace attune {

// A mixture of Student's t distributions. A value. Savers store the points and compute it again.
struct CurveForecast {
  struct Component {
    CurveFamily family = CurveFamily::linear;
    double mean = 0, deviation = 0;
    double freedom = 1;  // number of points minus number of parameters
    double weight = 0;   // they add up to 1
  };
  std::vector<Component> components;  // not empty

  double mean() const;
  double probability_below(double y) const;  // that one measurement is below y
};

// Forecasts a measurement at `target`. `points` are in ascending order of x. Nothing if no family
// can be fitted.
std::optional<CurveForecast> forecast_curve(std::span<const CurvePoint> points, double target);

}  // namespace attune
