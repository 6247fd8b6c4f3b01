#include "tuners/parts/explore_drift.h"

#include <cmath>
#include <limits>

namespace attune {

DriftProcess::DriftProcess(const std::vector<Row>& rows, std::span<const double> targets,
                           const DriftKernel& kernel)
    : rows_(rows), known_(targets.size()), kernel_(kernel) {
  const std::size_t n = rows_.size();
  factor_.assign(n * n, 0);
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = 0; j <= i; ++j) {
      double sum = covariance(rows_[i], rows_[j]) + (i == j ? kernel_.noise : 0);
      for (std::size_t k = 0; k < j; ++k) sum -= factor_[i * n + k] * factor_[j * n + k];
      // The noise keeps the diagonal positive, but for rounding.
      factor_[i * n + j] =
          i == j ? std::sqrt(std::max(sum, kernel_.noise / 2)) : sum / factor_[j * n + j];
    }
  }
  z_ = solved({targets.begin(), targets.end()});
}

double DriftProcess::covariance(const Row& a, const Row& b) const {
  double squares = 0;
  for (std::size_t d = 0; d < a.x.size(); ++d) squares += (a.x[d] - b.x[d]) * (a.x[d] - b.x[d]);
  return std::exp(-squares / kernel_.length) *
         std::pow(1 - kernel_.forgetting, std::abs(a.time - b.time) / 2);
}

// `values` may be fewer than there are rows: those of the first rows.
std::vector<double> DriftProcess::solved(std::vector<double> values) const {
  const std::size_t n = rows_.size();
  for (std::size_t i = 0; i < values.size(); ++i) {
    for (std::size_t k = 0; k < i; ++k) values[i] -= factor_[i * n + k] * values[k];
    values[i] /= factor_[i * n + i];
  }
  return values;
}

double DriftProcess::log_likelihood() const {
  double sum = 0;
  for (std::size_t i = 0; i < known_; ++i) {
    sum -= z_[i] * z_[i] / 2 + std::log(factor_[i * rows_.size() + i]);
  }
  return sum;
}

// The first rows of a Cholesky factor are the factor of the first rows alone. So one factor gives
// the mean from the rows with targets, and the deviation from all.
DriftProcess::Prediction DriftProcess::predict(const Row& row) const {
  std::vector<double> k;
  for (const Row& other : rows_) k.push_back(covariance(row, other));
  k = solved(std::move(k));
  Prediction prediction;
  double explained = 0;
  for (std::size_t i = 0; i < k.size(); ++i) {
    if (i < known_) prediction.mean += k[i] * z_[i];
    explained += k[i] * k[i];
  }
  prediction.deviation = std::sqrt(std::max(1 - explained, 0.0));
  return prediction;
}

DriftKernel likely_kernel(const std::vector<DriftProcess::Row>& rows,
                          std::span<const double> targets) {
  DriftKernel best;
  double highest = -std::numeric_limits<double>::infinity();
  const auto dimensions = static_cast<double>(rows.front().x.size());
  for (const double length : {0.05, 0.2, 0.8}) {
    for (const double forgetting : {0.0, 0.1, 0.3, 0.6}) {
      for (const double noise : {0.05, 0.3}) {
        const DriftKernel kernel{length * dimensions, forgetting, noise};
        const double likelihood = DriftProcess(rows, targets, kernel).log_likelihood();
        if (likelihood > highest) {
          highest = likelihood;
          best = kernel;
        }
      }
    }
  }
  return best;
}

}  // namespace attune
