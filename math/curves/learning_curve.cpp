#include "math/curves/learning_curve.h"

#include <cmath>

namespace attune {
namespace {

// The bound of q: e^12 is about 160000 epochs, and a larger q changes no curve visibly.
constexpr double kFarthest = 12;

constexpr std::array<CurveForm, kCurveFamilies> kForms = {{
    {"vap", false, 2, {-20, -5}, {20, 5}},
    {"pow3", true, 1, {0.01, 0}, {10, 0}},
    {"linear", true, 0, {}, {}},
    {"logx_linear", true, 0, {}, {}},
    {"dr_hill_zero_background", false, 2, {0.01, -kFarthest}, {8, kFarthest}},
    {"log_power", false, 2, {-8, -kFarthest}, {8, kFarthest}},
    {"pow4", true, 2, {0.01, -3}, {10, kFarthest}},
    {"mmf", true, 2, {0.05, -kFarthest}, {8, 3}},
    {"exp4", true, 2, {0.05, -kFarthest}, {6, 3}},
    {"ilog2", true, 0, {}, {}},
    {"weibull", true, 2, {0.05, -kFarthest}, {6, 3}},
    {"janoschek", true, 2, {0.05, -kFarthest}, {6, 3}},
}};

// 1 / (1 + e^u) with its derivative.
struct Logistic {
  explicit Logistic(double u) : value(1 / (1 + std::exp(u))), slope(-value * (1 - value)) {}
  double value, slope;
};

// exp(-e^u) with its derivative.
struct Decay {
  explicit Decay(double u) : value(std::exp(-std::exp(u))), slope(-std::exp(u) * value) {
    if (value == 0) slope = 0;  // infinity * 0
  }
  double value, slope;
};

}  // namespace

const CurveForm& form_of(CurveFamily family) { return kForms[static_cast<std::size_t>(family)]; }

Shape shape_at(CurveFamily family, const ShapeParameters& parameters, double x) {
  const auto [p, q] = parameters;
  const double log_x = std::log(x);
  switch (family) {
    case CurveFamily::vap: {
      const double value = std::exp(p / x + q * log_x);
      return {value, {value / x, value * log_x}};
    }
    case CurveFamily::pow3: {
      const double value = std::exp(-p * log_x);
      return {value, {-log_x * value, 0}};
    }
    case CurveFamily::linear:
      return {x, {}};
    case CurveFamily::logx_linear:
      return {log_x, {}};
    case CurveFamily::dr_hill_zero_background: {
      const Logistic s(p * (q - log_x));
      return {s.value, {s.slope * (q - log_x), s.slope * p}};
    }
    case CurveFamily::log_power: {
      const Logistic s(p * (log_x - q));
      return {s.value, {s.slope * (log_x - q), -s.slope * p}};
    }
    case CurveFamily::pow4: {
      const double base = x - 1 + std::exp(q);
      const double value = std::pow(base, -p);
      return {value, {-std::log(base) * value, -p * std::exp(q) / base * value}};
    }
    case CurveFamily::mmf: {
      const Logistic s(p * (q + log_x));
      return {s.value, {s.slope * (q + log_x), s.slope * p}};
    }
    case CurveFamily::exp4:
    case CurveFamily::janoschek: {
      const Decay d(q + p * log_x);
      return {d.value, {d.slope * log_x, d.slope}};
    }
    case CurveFamily::ilog2:
      return {1 / std::log1p(x), {}};
    case CurveFamily::weibull: {
      const Decay d(p * (q + log_x));
      return {d.value, {d.slope * (q + log_x), d.slope * p}};
    }
  }
  return {};
}

}  // namespace attune
