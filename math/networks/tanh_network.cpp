#include "math/networks/tanh_network.h"

#define EIGEN_MPL2_ONLY
#include <Eigen/Dense>
#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>

#include "base/check.h"
#include "base/saved_numbers.h"
#include "math/networks/adam.h"
#include "math/networks/eigen_index.h"

namespace attune {
namespace {

using Matrix = Eigen::MatrixXd;
using Vector = Eigen::VectorXd;
using ConstMatrixMap = Eigen::Map<const Matrix>;

constexpr double kMostParameter = 1e6;  // limit for a saved network; training does not come near it

// One column for each observation, which is how row-by-row input lies in memory.
ConstMatrixMap columns(std::span<const double> rows, std::size_t size, std::size_t count) {
  return {rows.data(), index(size), index(count)};
}

// Applies tanh in place. It uses the exponential, which Eigen vectorises; Eigen does not vectorise
// tanh of doubles.
void squash(Matrix& a) {
  const Eigen::ArrayXXd decay = (-2 * a.array().abs()).exp();
  a.array() = a.array().sign() * (1 - decay) / (1 + decay);
}

// A view of the parameters, or of their derivatives, of one layer.
template <class Number>
struct Layer {
  using M = std::conditional_t<std::is_const_v<Number>, const Matrix, Matrix>;
  using V = std::conditional_t<std::is_const_v<Number>, const Vector, Vector>;
  Eigen::Map<M> weights;
  Eigen::Map<V> biases;
};

template <class Number>
Layer<Number> layer(Number* at, std::size_t inputs, std::size_t outputs) {
  return {{at, index(outputs), index(inputs)}, {at + inputs * outputs, index(outputs)}};
}

std::size_t layer_size(std::size_t inputs, std::size_t outputs) { return (inputs + 1) * outputs; }

// The activations of each hidden layer; `widths` with the inputs in front.
template <class Inputs>
std::vector<Matrix> forward(const std::vector<double>& parameters,
                            std::span<const std::size_t> widths, const Inputs& x) {
  std::vector<Matrix> all;
  const double* at = parameters.data();
  for (std::size_t l = 0; l + 1 < widths.size(); ++l) {
    const auto [w, b] = layer(at, widths[l], widths[l + 1]);
    Matrix a(w.rows(), x.cols());
    if (l == 0) {
      a.noalias() = w * x;
    } else {
      a.noalias() = w * all.back();
    }
    a.colwise() += b;
    squash(a);
    all.push_back(std::move(a));
    at += layer_size(widths[l], widths[l + 1]);
  }
  return all;
}

std::vector<std::size_t> shuffled(std::size_t n, Rng& rng) {
  std::vector<std::size_t> order(n);
  std::iota(order.begin(), order.end(), 0);
  for (std::size_t i = n; i > 1; --i) std::swap(order[i - 1], order[rng.index(i)]);
  return order;
}

}  // namespace

TanhNetwork::TanhNetwork(std::size_t inputs, std::vector<std::size_t> widths)
    : inputs_(inputs), widths_(std::move(widths)) {
  ATTUNE_CHECK(!widths_.empty() && std::ranges::find(widths_, 0u) == widths_.end());
  std::size_t count = layer_size(widths_.back(), 1);
  for (std::size_t l = 0; l < widths_.size(); ++l) count += layer_size(width(l), widths_[l]);
  parameters_.resize(count);
}

void TanhNetwork::set_parameters(std::vector<double> parameters) {
  ATTUNE_CHECK(parameters.size() == parameters_.size());
  parameters_ = std::move(parameters);
}

void TanhNetwork::initialise(Rng& rng) {
  std::ranges::fill(parameters_, 0.0);
  double* at = parameters_.data();
  for (std::size_t l = 0; l <= widths_.size(); ++l) {
    const std::size_t from = width(l), to = l < widths_.size() ? widths_[l] : 1;
    const double end = std::sqrt(6.0 / static_cast<double>(from + to));
    for (std::size_t i = 0; i < from * to; ++i) at[i] = rng.uniform(-end, end);
    at += layer_size(from, to);
  }
}

double TanhNetwork::loss(std::span<const double> rows, std::span<const double> targets,
                         std::span<double> gradient) const {
  const std::size_t n = targets.size();
  ATTUNE_CHECK(n > 0 && rows.size() == n * inputs_ && gradient.size() == parameters_.size());
  std::vector<std::size_t> widths = {inputs_};
  widths.insert(widths.end(), widths_.begin(), widths_.end());
  const auto x = columns(rows, inputs_, n);
  const std::vector<Matrix> a = forward(parameters_, widths, x);

  std::size_t at = parameters_.size() - layer_size(widths.back(), 1);
  const auto output = layer(parameters_.data() + at, widths.back(), 1);
  auto slope = layer(gradient.data() + at, widths.back(), 1);
  Matrix delta = output.weights * a.back();  // derivatives by what enters a layer
  delta.array() += output.biases[0];
  delta -= columns(targets, 1, n);
  const double value = 0.5 * delta.squaredNorm() / static_cast<double>(n);
  delta /= static_cast<double>(n);
  slope.weights.noalias() = delta * a.back().transpose();
  slope.biases[0] = delta.sum();
  // Backwards through the hidden layers; the derivative of tanh is 1 - tanh^2.
  Matrix back = output.weights.transpose() * delta;
  for (std::size_t l = widths_.size(); l-- > 0;) {
    at -= layer_size(widths[l], widths[l + 1]);
    const auto w = layer(parameters_.data() + at, widths[l], widths[l + 1]).weights;
    auto [w_slope, b_slope] = layer(gradient.data() + at, widths[l], widths[l + 1]);
    delta = (back.array() * (1 - a[l].array().square())).matrix();
    if (l == 0) {
      w_slope.noalias() = delta * x.transpose();
    } else {
      w_slope.noalias() = delta * a[l - 1].transpose();
    }
    b_slope = delta.rowwise().sum();
    if (l > 0) back.noalias() = w.transpose() * delta;
  }
  return value;
}

void TanhNetwork::train(std::span<const double> rows, std::span<const double> targets,
                        const TrainingSettings& settings, Rng& rng) {
  const std::size_t n = targets.size();
  const std::size_t batch = std::min(n, std::max<std::size_t>(settings.batch, 1));
  const std::size_t steps = (settings.presentations + batch - 1) / batch;
  Adam adam(parameters_.size());
  std::vector<double> gradient(parameters_.size());
  std::vector<double> some_rows(batch * inputs_), some_targets(batch);
  std::vector<std::size_t> order;
  std::size_t next = n;
  for (std::size_t s = 0; s < steps; ++s) {
    // A new order when the rest is less than a batch: each observation comes once in an order, at
    // most.
    if (next + batch > n) {
      order = shuffled(n, rng);
      next = 0;
    }
    for (std::size_t k = 0; k < batch; ++k) {
      const std::size_t i = order[next++];
      const auto row = rows.subspan(i * inputs_, inputs_);
      std::ranges::copy(row, some_rows.begin() + static_cast<std::ptrdiff_t>(k * inputs_));
      some_targets[k] = targets[i];
    }
    loss(some_rows, some_targets, gradient);
    const double done = static_cast<double>(s) / static_cast<double>(steps);
    adam.step(parameters_, gradient,
              settings.rate * (0.55 + 0.45 * std::cos(std::numbers::pi * done)));
  }
}

std::vector<double> TanhNetwork::basis(std::span<const double> rows, std::size_t count) const {
  ATTUNE_CHECK(rows.size() == count * inputs_);
  std::vector<std::size_t> widths = {inputs_};
  widths.insert(widths.end(), widths_.begin(), widths_.end());
  const std::vector<Matrix> a = forward(parameters_, widths, columns(rows, inputs_, count));
  return {a.back().data(), a.back().data() + a.back().size()};
}

std::vector<double> TanhNetwork::pull_back(std::span<const double> row,
                                           std::span<const double> by_basis) const {
  std::vector<std::size_t> widths = {inputs_};
  widths.insert(widths.end(), widths_.begin(), widths_.end());
  const std::vector<Matrix> a = forward(parameters_, widths, columns(row, inputs_, 1));
  Vector back = columns(by_basis, widths.back(), 1);
  std::size_t at = parameters_.size() - layer_size(widths.back(), 1);
  for (std::size_t l = widths_.size(); l-- > 0;) {
    at -= layer_size(widths[l], widths[l + 1]);
    const auto w = layer(parameters_.data() + at, widths[l], widths[l + 1]).weights;
    back = w.transpose() * (back.array() * (1 - a[l].array().square())).matrix();
  }
  return {back.begin(), back.end()};
}

json TanhNetwork::save() const { return save_numbers(parameters_); }

Result<void> TanhNetwork::load(const json& state) {
  auto loaded = TRY(numbers(state));
  const bool possible =
      loaded.size() == parameters_.size() &&
      std::ranges::all_of(loaded, [](double x) { return std::abs(x) <= kMostParameter; });
  if (!possible) return fail("saved state: not the weights of such a network");
  parameters_ = std::move(loaded);
  return {};
}

}  // namespace attune
