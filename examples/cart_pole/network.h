#pragma once
// A perceptron with two hidden layers of rectified linear units: the value of each action in a
// state. The gradient is by hand. A value; not thread safe: it keeps the activations.
#include <array>
#include <cstddef>
#include <span>
#include <vector>

#include "base/rng.h"
#include "examples/cart_pole/cart_pole.h"

namespace cart_pole {

using Values = std::array<double, kActions>;

class Network {
 public:
  // Weights of He et al., "Delving deep into rectifiers", 2015, section 2.2; biases 0.
  Network(std::size_t hidden, attune::Rng& rng);

  Values values(const State& state);
  std::size_t best_action(const State& state);  // the first one of equals

  // Adds to `gradient`, which has the size of weights(), that of the sum over the actions of
  // slopes[a] * value of a, in the state of the last call of values().
  void add_gradient(const Values& slopes, std::span<double> gradient);

  std::span<double> weights() { return weights_; }
  std::span<const double> weights() const { return weights_; }
  std::size_t hidden() const { return hidden_; }

 private:
  std::size_t hidden_;
  // Of each of the three layers: one row of inputs per output, then the biases.
  std::vector<double> weights_;
  std::vector<double> input_, first_, second_, first_slope_, second_slope_;
};

// Kingma & Ba, "Adam: a method for stochastic optimization", 2015, algorithm 1.
class Adam {
 public:
  explicit Adam(std::size_t weights) : mean_(weights), square_(weights) {}
  void step(std::span<double> weights, std::span<const double> gradient, double rate);

 private:
  std::vector<double> mean_, square_;
  double mean_decay_ = 1, square_decay_ = 1;  // to the power of the steps
};

}  // namespace cart_pole
