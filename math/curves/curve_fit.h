#pragma once
// Fits learning curves (math/curves/learning_curve.h) by least squares.
//
// Method: variable projection (Golub, Pereyra, "The Differentiation of Pseudo-Inverses and
// Nonlinear Least Squares Problems Whose Variables Separate", 1973; Kaufman's simpler Jacobian,
// 1975). Background and scale are solved for in closed form. Levenberg-Marquardt (Marquardt 1963)
// searches only for the at most two parameters of the shape, inside their bounds, from the best of
// a grid of starting points. So a fit does not depend on the unit or offset of the metric.
#include <optional>
#include <span>

#include "math/curves/learning_curve.h"

namespace attune {

struct CurvePoint {
  double x = 1;  // epoch, >= 1
  double y = 0;
};

struct CurveFit {
  LearningCurve curve;
  double squared_error = 0;  // summed over the points

  // The standard deviation of one more measurement at `target`, from the linearised model (Seber,
  // Wild, "Nonlinear Regression", 1989, section 5.1), with the noise estimated from the residuals.
  // `points` are those of the fit.
  double deviation(std::span<const CurvePoint> points, double target) const;
};

// Fits a curve of the family; O(points). `points` are in ascending order of x. Nothing in these
// cases: there are not more points than the family has parameters; a point is not finite, |y| >
// 1e150, or x < 1; no finite curve of the family was found.
std::optional<CurveFit> fit_curve(CurveFamily family, std::span<const CurvePoint> points);

}  // namespace attune
