#pragma once
// The logarithm of expected improvement (math/gp/log_improvement.h) over a model, for a search of
// its maximum. Private to the tuners.
#include <algorithm>
#include <cmath>
#include <span>
#include <vector>

#include "math/gp/log_improvement.h"
#include "tuners/parts/acquisition_search.h"

namespace attune {

// Of models with predict_many(): a mean and a deviation, or a variance, of each row. `best`: what
// is to be improved on; no deviation counts as less than `least`.
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

// Of models that also predict() with the derivatives by positions. The model must outlive it.
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
