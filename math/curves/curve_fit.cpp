#include "math/curves/curve_fit.h"

#define EIGEN_MPL2_ONLY  // refuses parts of Eigen under other licences
#include <Eigen/Cholesky>
#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

namespace attune {
namespace {

constexpr int kSteps = 30;
constexpr double kEnough = 1e-9;  // relative decrease of the error that justifies another step

constexpr double kLargest = 1e150;  // its square is finite

using Matrix2 = Eigen::Matrix2d;
using Vector2 = Eigen::Vector2d;

// One family on one set of points: the error as a function of the shape alone.
class Projection {
 public:
  Projection(CurveFamily family, std::span<const CurvePoint> points)
      : family_(family), form_(form_of(family)), points_(points), shapes_(points.size()) {
    for (const CurvePoint& point : points) unit_ = std::max(unit_, std::abs(point.y));
    if (unit_ == 0) unit_ = 1;
    if (form_.background) {
      for (const CurvePoint& point : points) mean_ += point.y / unit_ / count();
    }
  }

  struct Solution {
    ShapeParameters shape = {};
    double background = 0, scale = 0;  // in units of the largest |y|
    double error = std::numeric_limits<double>::infinity();
  };

  // The best background and scale for a shape. For a constant shape the scale is 0. Keeps the
  // shape's values and gradients for linearise().
  Solution solve(const ShapeParameters& shape) {
    Solution solution{.shape = shape};
    shape_mean_ = 0;
    for (std::size_t i = 0; i < points_.size(); ++i) {
      shapes_[i] = shape_at(family_, shape, points_[i].x);
      if (form_.background) shape_mean_ += shapes_[i].value / count();
    }
    double gg = 0, gy = 0;
    for (std::size_t i = 0; i < points_.size(); ++i) {
      const double g = shapes_[i].value - shape_mean_;
      gg += g * g;
      gy += g * y(i);
    }
    shape_square_ = gg;
    solution.scale = gg > 0 ? gy / gg : 0;
    solution.background = mean_ - solution.scale * shape_mean_;
    if (!std::isfinite(solution.scale) || !std::isfinite(solution.background)) return solution;
    double error = 0;
    for (std::size_t i = 0; i < points_.size(); ++i) {
      const double r = residual(solution, i);
      error += r * r;
    }
    if (std::isfinite(error)) solution.error = error;
    return solution;
  }

  // The normal equations of Gauss and Newton for the shape, after solve(at.shape). Kaufman's
  // Jacobian: the derivative of the curve, without the part that a change of background and scale
  // would achieve as well.
  void linearise(const Solution& at, Matrix2& normal, Vector2& gradient) const {
    Vector2 mean = Vector2::Zero(), along = Vector2::Zero();
    if (form_.background) {
      for (const Shape& shape : shapes_) mean += derivative(at, shape) / count();
    }
    for (const Shape& shape : shapes_) {
      along += (derivative(at, shape) - mean) * (shape.value - shape_mean_);
    }
    if (shape_square_ > 0) along /= shape_square_;
    normal.setZero();
    gradient.setZero();
    for (std::size_t i = 0; i < points_.size(); ++i) {
      const Vector2 d =
          derivative(at, shapes_[i]) - mean - along * (shapes_[i].value - shape_mean_);
      normal += d * d.transpose();
      gradient += d * residual(at, i);
    }
  }

  double unit() const { return unit_; }

 private:
  double count() const { return static_cast<double>(points_.size()); }
  double y(std::size_t i) const { return points_[i].y / unit_ - mean_; }
  double residual(const Solution& at, std::size_t i) const {
    return y(i) - at.scale * (shapes_[i].value - shape_mean_);
  }
  static Vector2 derivative(const Solution& at, const Shape& shape) {
    return at.scale * Vector2(shape.gradient[0], shape.gradient[1]);
  }

  CurveFamily family_;
  const CurveForm& form_;
  std::span<const CurvePoint> points_;
  std::vector<Shape> shapes_;
  double unit_ = 0, mean_ = 0;
  double shape_mean_ = 0, shape_square_ = 0;
};

// Finds the best of a grid of starting points: some values of p, and q as the logarithm of some
// places on the x axis where the shape bends.
Projection::Solution best_start(Projection& projection, CurveFamily family, double last_x) {
  const CurveForm& form = form_of(family);
  Projection::Solution best;
  const auto try_shape = [&](double p, double q) {
    const ShapeParameters shape = {std::clamp(p, form.low[0], form.high[0]),
                                   std::clamp(q, form.low[1], form.high[1])};
    const auto solution = projection.solve(shape);
    if (solution.error < best.error) best = solution;
  };
  if (form.shape_parameters == 0) {
    try_shape(0, 0);
    return best;
  }
  if (family == CurveFamily::vap) {
    for (const double p : {-2.0, -0.5, 0.5, 2.0}) {
      for (const double q : {-1.0, -0.2, 0.2}) try_shape(p, q);
    }
    return best;
  }
  if (form.shape_parameters == 1) {
    for (const double p : {0.2, 0.6, 1.2, 3.0}) try_shape(p, 0);
    return best;
  }
  for (const double bend : {1.5, std::sqrt(1.5 * last_x), last_x}) {
    for (const double p : {0.5, 1.0, 2.0}) {
      switch (family) {
        case CurveFamily::mmf:
        case CurveFamily::weibull:
          try_shape(p, -std::log(bend));
          break;
        case CurveFamily::exp4:
        case CurveFamily::janoschek:
          try_shape(p, -p * std::log(bend));
          break;
        case CurveFamily::log_power:
          try_shape(-p, std::log(bend));
          [[fallthrough]];
        default:
          try_shape(p, std::log(bend));
      }
    }
  }
  return best;
}

// Levenberg-Marquardt with Marquardt's scaling. A step that would leave the bounds is clipped.
Projection::Solution improve(Projection& projection, Projection::Solution best,
                             const CurveForm& form) {
  double damping = 1e-2;
  Matrix2 normal;
  Vector2 gradient;
  bool moved = true;
  for (int step = 0; step < kSteps && best.error > 0 && damping < 1e8; ++step) {
    if (moved) projection.linearise(projection.solve(best.shape), normal, gradient);
    Matrix2 damped = normal;
    for (int k = 0; k < 2; ++k) damped(k, k) += damping * normal(k, k) + 1e-300;
    const Vector2 change = damped.ldlt().solve(gradient);
    if (!change.allFinite()) break;
    ShapeParameters next = best.shape;
    for (std::size_t k = 0; k < form.shape_parameters; ++k) {
      next[k] =
          std::clamp(next[k] + change[static_cast<Eigen::Index>(k)], form.low[k], form.high[k]);
    }
    if (next == best.shape) break;
    const auto solution = projection.solve(next);
    moved = solution.error < best.error;
    if (!moved) {
      damping *= 8;
      continue;
    }
    damping = std::max(damping / 8, 1e-12);
    const bool enough = best.error - solution.error < kEnough * best.error;
    best = solution;
    if (enough) break;
  }
  return best;
}

// The derivatives of the curve by background, scale, p and q; 0 for those that the family does not
// have.
Eigen::Vector4d gradient_at(const LearningCurve& curve, double x) {
  const Shape shape = shape_at(curve.family, curve.shape, x);
  return {form_of(curve.family).background ? 1.0 : 0.0, shape.value,
          curve.scale * shape.gradient[0], curve.scale * shape.gradient[1]};
}

}  // namespace

double CurveFit::deviation(std::span<const CurvePoint> points, double target) const {
  const std::size_t parameters = form_of(curve.family).parameters();
  Eigen::Matrix4d normal = Eigen::Matrix4d::Zero();
  for (const CurvePoint& point : points) {
    const Eigen::Vector4d g = gradient_at(curve, point.x);
    normal += g * g.transpose();
  }
  // Scales the matrix to a unit diagonal. A parameter without influence on the points, or that does
  // not exist, is taken as fixed. The ridge is for two parameters that the points cannot tell
  // apart: each would have an infinite variance.
  Eigen::Vector4d at = gradient_at(curve, target), size = normal.diagonal().cwiseSqrt();
  for (Eigen::Index k = 0; k < 4; ++k) {
    if (size[k] > 0) {
      normal.row(k) /= size[k];
      normal.col(k) /= size[k];
      at[k] /= size[k];
    } else {
      at[k] = 0;
    }
    normal(k, k) = 1 + 1e-9;
  }
  const double leverage = at.dot(normal.ldlt().solve(at));
  const double freedom = static_cast<double>(points.size() - parameters);
  const double noise = squared_error / freedom;
  return std::sqrt(noise * (1 + std::max(leverage, 0.0)));
}

std::optional<CurveFit> fit_curve(CurveFamily family, std::span<const CurvePoint> points) {
  const CurveForm& form = form_of(family);
  if (points.size() <= form.parameters()) return std::nullopt;
  for (const CurvePoint& point : points) {
    const bool usable = std::abs(point.y) <= kLargest && point.x >= 1 && std::isfinite(point.x);
    if (!usable) return std::nullopt;
  }
  Projection projection(family, points);
  auto best = best_start(projection, family, points.back().x);
  if (!std::isfinite(best.error)) return std::nullopt;
  if (form.shape_parameters > 0) best = improve(projection, best, form);

  const double unit = projection.unit();
  const CurveFit fit{{family, best.background * unit, best.scale * unit, best.shape},
                     best.error * unit * unit};
  const bool finite = std::isfinite(fit.curve.background) && std::isfinite(fit.curve.scale) &&
                      std::isfinite(fit.squared_error);
  return finite ? std::optional(fit) : std::nullopt;
}

}  // namespace attune
