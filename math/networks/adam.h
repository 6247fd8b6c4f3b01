#pragma once
// Steps along noisy gradients, each weight in units of its own gradients.
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
  // `least`, > 0: gradients much smaller than it are no reason for a step (epsilon of the paper).
  explicit Adam(std::size_t size, double least = 1e-8)
      : least_(least), mean_(size), square_(size) {}

  // Moves `weights` against the gradient of what is to become small, each by about `rate`. A
  // gradient that is longer than `longest` is cut to that (Pascanu, Mikolov, Bengio, "On the
  // difficulty of training recurrent neural networks", ICML 2013); one that is not finite is left
  // out. `gradient` and `weights` are as long as `size`.
  void step(std::span<double> weights, std::span<const double> gradient, double rate,
            double longest = std::numeric_limits<double>::infinity());

  json save() const;
  Result<void> load(const json& state);  // all or nothing; of the same size

 private:
  double least_;
  std::vector<double> mean_, square_;  // decaying sums of the gradients and of their squares
  std::int64_t steps_ = 0;
  double mean_left_ = 1, square_left_ = 1;  // weights of the zeros that the sums began with
};

}  // namespace attune
