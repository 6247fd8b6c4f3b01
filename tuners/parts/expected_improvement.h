#pragma once
// The acquisition "logarithm of expected improvement" (math/gp/log_improvement.h) over any model,
// for acquisition_search.h. Private to the tuners.
#include <algorithm>
#include <cmath>
#include <span>
#include <vector>

#include "math/gp/log_improvement.h"
#include "tuners/parts/acquisition_search.h"

namespace attune {

// The log expected improvement of each row. The model has predict_many(), which gives a mean and
// either a deviation or a variance for each row. `best`: the loss to improve on. A deviation below
// `least` counts as `least`.
template <class Model>
std::vector<double> log_expected_improvements(const Model& model, std::span<const double> rows,
                                              double best, double least = 0) {
  std::vector<double> values;
  for (const auto& at : model.predict_many(rows)) {
    double deviation = 0;
    if constexpr (requires { at.variance; }) {
      deviation = std::sqrt(at.variance);
    } else {
      deviation = at.deviation;
    }
    values.push_back(log_expected_improvement(at.mean, std::max(deviation, least), best).value);
  }
  return values;
}

// The acquisition for a model that also has predict() with derivatives by positions. The model must
// outlive the result.
template <class Model>
Acquisition expected_improvement(const Model& model, double best) {
  const auto values = [&model, best](std::span<const double> rows) {
    return log_expected_improvements(model, rows, best);
  };
  const auto climb = [&model, best, by_deviation = std::vector<double>()](
                         std::span<const double> row, std::span<double> gradient) mutable {
    by_deviation.resize(gradient.size());
    const auto [mean, deviation] = model.predict(row, gradient, by_deviation);
    const LogImprovement at = log_expected_improvement(mean, deviation, best);
    for (std::size_t i = 0; i < gradient.size(); ++i) {
      gradient[i] = at.by_mean * gradient[i] + at.by_deviation * by_deviation[i];
    }
    return at.value;
  };
  return {.values = values, .climb = climb};
}

}  // namespace attune
