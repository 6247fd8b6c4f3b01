#include "math/networks/deep_regression.h"

#include <algorithm>
#include <cmath>

#include "base/saved_numbers.h"

namespace attune {
namespace {

const std::vector<std::size_t> kWidths = {50, 50, 50};  // of the hidden layers, as in the paper
const double kSure = std::log(1e4);                     // precision of confirmed rows

}  // namespace

DeepRegression::DeepRegression(std::vector<OneHot::Dimension> dimensions)
    : inputs_(std::move(dimensions)),
      network_(inputs_.inputs(), kWidths),
      head_(network_.basis_size() + 1) {}

void DeepRegression::train(std::span<const double> rows, std::span<const double> targets,
                           std::size_t presentations, Rng& rng) {
  if (!trained_) network_.initialise(rng);
  trained_ = true;
  network_.train(inputs_.encode(rows, targets.size()), targets, {.presentations = presentations},
                 rng);
}

void DeepRegression::fit(std::span<const double> rows, std::span<const double> targets) {
  head_.fit(basis(rows, targets.size()), targets);
}

void DeepRegression::confirm(std::span<const double> rows) {
  if (count(rows) > 0) head_.confirm(basis(rows, count(rows)), kSure);
}

std::size_t DeepRegression::count(std::span<const double> rows) const {
  return inputs_.dimensions() > 0 ? rows.size() / inputs_.dimensions() : 1;
}

std::vector<double> DeepRegression::basis(std::span<const double> rows, std::size_t count) const {
  const std::vector<double> units = network_.basis(inputs_.encode(rows, count), count);
  // A constant is appended to the basis.
  const std::size_t m = network_.basis_size();
  std::vector<double> all(count * (m + 1), 1.0);
  for (std::size_t i = 0; i < count; ++i) {
    std::copy_n(units.begin() + static_cast<std::ptrdiff_t>(i * m), m,
                all.begin() + static_cast<std::ptrdiff_t>(i * (m + 1)));
  }
  return all;
}

std::vector<DeepRegression::Prediction> DeepRegression::predict_many(
    std::span<const double> rows) const {
  return head_.predict_many(basis(rows, count(rows)));
}

DeepRegression::Prediction DeepRegression::predict(std::span<const double> row,
                                                   std::span<double> mean_gradient,
                                                   std::span<double> deviation_gradient) const {
  const std::size_t m = network_.basis_size();
  std::vector<double> by_mean(m + 1), by_deviation(m + 1);
  const Prediction prediction = head_.predict(basis(row, 1), by_mean, by_deviation);
  const std::vector<double> inputs = inputs_.encode(row, 1);
  const auto pull = [&](std::span<const double> by_basis, std::span<double> gradient) {
    inputs_.pull_back(network_.pull_back(inputs, by_basis.first(m)), gradient);
  };
  pull(by_mean, mean_gradient);
  pull(by_deviation, deviation_gradient);
  return prediction;
}

json DeepRegression::save() const { return trained_ ? network_.save() : save_numbers({}); }

Result<void> DeepRegression::load(const json& state) {
  const bool trained = !TRY(numbers(state)).empty();
  if (trained) TRY(network_.load(state));
  trained_ = trained;
  return {};
}

}  // namespace attune
