#pragma once
// Minimises along noisy gradients. Each weight's step is scaled by the size of its own gradients.
//
// Source: Kingma, Ba, "Adam: A Method for Stochastic Optimization" (ICLR 2015), algorithm 1.
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "base/json.h"
#include "base/result.h"

namespace attune {

// A value.
class Adam {
 public:
  // `least` > 0 is the paper's epsilon: a weight whose gradients are much smaller hardly moves.
  explicit Adam(std::size_t size, double least = 1e-8)
      : least_(least), mean_(size), square_(size) {}

  // Moves `weights` against `gradient`, each by about `rate`; both have the size given to the
  // constructor. A gradient whose norm is above `longest` is cut to it (Pascanu, Mikolov, Bengio,
  // "On the difficulty of training recurrent neural networks", ICML 2013). A gradient that is not
  // finite is ignored.
  void step(std::span<double> weights, std::span<const double> gradient, double rate,
            double longest = std::numeric_limits<double>::infinity());

  json save() const;
  Result<void> load(const json& state);  // all or nothing; of the same size

 private:
  double least_;
  std::vector<double> mean_, square_;  // decaying sums of the gradients and of their squares
  std::int64_t steps_ = 0;
  // Weights of the zeros with which the sums began: the bias that the paper corrects.
  double mean_left_ = 1, square_left_ = 1;
};

}  // namespace attune
