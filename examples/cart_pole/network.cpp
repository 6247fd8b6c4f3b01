#include "examples/cart_pole/network.h"

#include <algorithm>
#include <cmath>

namespace cart_pole {
namespace {

constexpr std::size_t kInputs = std::tuple_size_v<State>;

std::size_t size_of(std::size_t inputs, std::size_t outputs) { return (inputs + 1) * outputs; }

// Rows of weights, then the biases.
void apply(std::span<const double> layer, std::span<const double> in, std::span<double> out) {
  const double* biases = layer.data() + in.size() * out.size();
  for (std::size_t o = 0; o < out.size(); ++o) {
    // Four sums, so that one addition need not wait for the one before.
    const double* row = layer.data() + o * in.size();
    double sums[4] = {biases[o], 0, 0, 0};
    for (std::size_t i = 0; i + 4 <= in.size(); i += 4) {
      for (std::size_t k = 0; k < 4; ++k) sums[k] += row[i + k] * in[i + k];
    }
    for (std::size_t i = in.size() / 4 * 4; i < in.size(); ++i) sums[0] += row[i] * in[i];
    out[o] = (sums[0] + sums[1]) + (sums[2] + sums[3]);
  }
}

void rectify(std::span<double> values) {
  for (double& each : values) each = std::max(each, 0.0);
}

// `slopes`: of what is wanted by each output; `in_slopes`, by each input, may be empty.
void add_slopes(std::span<const double> layer, std::span<const double> in,
                std::span<const double> slopes, std::span<double> gradient,
                std::span<double> in_slopes) {
  std::ranges::fill(in_slopes, 0.0);
  for (std::size_t o = 0; o < slopes.size(); ++o) {
    const double slope = slopes[o];
    if (slope == 0) continue;  // half of the units do not fire
    const double* row = layer.data() + o * in.size();
    double* row_gradient = gradient.data() + o * in.size();
    for (std::size_t i = 0; i < in.size(); ++i) row_gradient[i] += slope * in[i];
    for (std::size_t i = 0; i < in_slopes.size(); ++i) in_slopes[i] += slope * row[i];
    gradient[in.size() * slopes.size() + o] += slope;
  }
}

void stop_at_zero(std::span<double> slopes, std::span<const double> values) {
  for (std::size_t i = 0; i < slopes.size(); ++i) slopes[i] = values[i] > 0 ? slopes[i] : 0;
}

}  // namespace

Network::Network(std::size_t hidden, attune::Rng& rng)
    : hidden_(hidden),
      weights_(size_of(kInputs, hidden) + size_of(hidden, hidden) + size_of(hidden, kActions)),
      input_(kInputs),
      first_(hidden),
      second_(hidden),
      first_slope_(hidden),
      second_slope_(hidden) {
  double* weight = weights_.data();
  for (const auto& [inputs, outputs] :
       {std::pair{kInputs, hidden}, {hidden, hidden}, {hidden, kActions}}) {
    const double deviation = std::sqrt(2.0 / static_cast<double>(inputs));
    for (std::size_t i = 0; i < inputs * outputs; ++i) *weight++ = deviation * rng.normal();
    weight += outputs;
  }
}

Values Network::values(const State& state) {
  const std::span<const double> all(weights_);
  const std::size_t one = size_of(kInputs, hidden_), two = size_of(hidden_, hidden_);
  std::ranges::copy(state, input_.begin());
  apply(all.first(one), input_, first_);
  rectify(first_);
  apply(all.subspan(one, two), first_, second_);
  rectify(second_);
  Values values;
  apply(all.subspan(one + two), second_, values);
  return values;
}

std::size_t Network::best_action(const State& state) {
  const Values of = values(state);
  return static_cast<std::size_t>(std::ranges::max_element(of) - of.begin());
}

void Network::add_gradient(const Values& slopes, std::span<double> gradient) {
  const std::span<const double> all(weights_);
  const std::size_t one = size_of(kInputs, hidden_), two = size_of(hidden_, hidden_);
  add_slopes(all.subspan(one + two), second_, slopes, gradient.subspan(one + two), second_slope_);
  stop_at_zero(second_slope_, second_);
  add_slopes(all.subspan(one, two), first_, second_slope_, gradient.subspan(one, two),
             first_slope_);
  stop_at_zero(first_slope_, first_);
  add_slopes(all.first(one), input_, first_slope_, gradient.first(one), {});
}

void Adam::step(std::span<double> weights, std::span<const double> gradient, double rate) {
  constexpr double kMean = 0.9, kSquare = 0.999, kTiny = 1e-8;
  mean_decay_ *= kMean;
  square_decay_ *= kSquare;
  const double scale = rate / (1 - mean_decay_), correction = 1 / (1 - square_decay_);
  for (std::size_t i = 0; i < weights.size(); ++i) {
    mean_[i] = kMean * mean_[i] + (1 - kMean) * gradient[i];
    square_[i] = kSquare * square_[i] + (1 - kSquare) * gradient[i] * gradient[i];
    weights[i] -= scale * mean_[i] / (std::sqrt(square_[i] * correction) + kTiny);
  }
}

}  // namespace cart_pole
