#pragma once
// The twelve parametric families of learning curves of Domhan, Springenberg, Hutter, "Speeding up
// Automatic Hyperparameter Optimization of Deep Neural Networks by Extrapolation of Learning
// Curves" (IJCAI 2015), table 1, as
//
//   y(x) = background + scale * shape(x; p, q),   x = 1, 2, ... counts epochs
//
// so that what is linear can be solved for exactly, whatever the unit of the metric is.
//
//   family                    in the paper                                  here: shape
//   vap                       exp(a + b/x + c ln x)                         exp(p/x + q ln x) *
//   pow3                      c - a x^-alpha                                x^-p
//   linear                    a x + b                                       x
//   logx_linear               a ln x + b                                    ln x
//   dr_hill_zero_background   theta x^eta / (kappa^eta + x^eta)             1 / (1 + (e^q/x)^p) *
//   log_power                 a / (1 + (x/e^b)^c)                           1 / (1 + (x/e^q)^p) *
//   pow4                      c - (a x + b)^-alpha                          (x - 1 + e^q)^-p
//   mmf                       alpha - (alpha - beta) / (1 + (kappa x)^delta)  1 / (1 + (e^q x)^p)
//   exp4                      c - exp(-a x^alpha + b)                       exp(-e^q x^p)
//   ilog2                     c - a / ln x                                  1 / ln(x + 1)
//   weibull                   alpha - (alpha - beta) exp(-(kappa x)^delta)  exp(-(e^q x)^p)
//   janoschek                 alpha - (alpha - beta) exp(-kappa x^delta)    exp(-e^q x^p)
//
// (*: no background.) ilog2 takes x + 1, since 1 / ln 1 does not exist. scale may have either sign,
// so that rising and falling curves are treated alike. exp4, weibull and janoschek are one function
// in three parametrisations; all are kept, for an average over families gives that shape its
// weight.
#include <array>
#include <cstddef>
#include <string_view>

namespace attune {

enum class CurveFamily {
  vap,
  pow3,
  linear,
  logx_linear,
  dr_hill_zero_background,
  log_power,
  pow4,
  mmf,
  exp4,
  ilog2,
  weibull,
  janoschek
};
inline constexpr std::size_t kCurveFamilies = 12;

using ShapeParameters = std::array<double, 2>;  // p, q; unused ones are 0

struct Shape {
  double value = 0;
  std::array<double, 2> gradient = {};  // with respect to p and q
};

// The properties of a family. Fits search for p and q between `low` and `high`, where the shape is
// finite for all x in [1, 1e6].
struct CurveForm {
  std::string_view name;
  bool background = true;
  std::size_t shape_parameters = 0;
  ShapeParameters low = {}, high = {};

  std::size_t parameters() const { return 1 + (background ? 1 : 0) + shape_parameters; }
};
const CurveForm& form_of(CurveFamily family);

// x >= 1.
Shape shape_at(CurveFamily family, const ShapeParameters& parameters, double x);

// A value.
struct LearningCurve {
  CurveFamily family = CurveFamily::linear;
  double background = 0, scale = 0;
  ShapeParameters shape = {};

  double predict(double x) const { return background + scale * shape_at(family, shape, x).value; }
};

}  // namespace attune
