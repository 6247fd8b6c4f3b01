#pragma once
// Where a learning curve will end: an average over the families of math/curves/learning_curve.h.
//
// Each family that can be fitted says "Student's t, with this mean and deviation"; the families are
// weighted by an approximation of their probability given the points (Schwarz, "Estimating the
// Dimension of a Model", 1978: exp(-BIC / 2)). This takes the place of the Markov chain over the
// weights of Domhan et al. (2015, section 3.2): the same idea, but nothing is drawn.
#include <optional>
#include <span>
#include <vector>

#include "math/curves/curve_fit.h"

namespace attune {

// A mixture of Student's t distributions. A value: a function of the points, which are saved in its
// place.
struct CurveForecast {
  struct Component {
    CurveFamily family = CurveFamily::linear;
    double mean = 0, deviation = 0;
    double freedom = 1;  // points less parameters
    double weight = 0;   // they add up to 1
  };
  std::vector<Component> components;  // not empty

  double mean() const;
  double probability_below(double y) const;  // of one measurement
};

// Of a measurement at `target`. Nothing if not even one family can be fitted. x ascending.
std::optional<CurveForecast> forecast_curve(std::span<const CurvePoint> points, double target);

}  // namespace attune
