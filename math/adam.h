#pragma once
// Steps along noisy gradients, each weight in units of its own gradients.
//
// Source: Kingma, Ba, "Adam: A Method for Stochastic Optimization" (ICLR 2015), algorithm 1.
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/json.h"
#include "base/result.h"

namespace attune {

// A value.
class Adam {
 public:
  explicit Adam(std::size_t size) : mean_(size), square_(size) {}

  // Moves `weights` against the gradient of what is to become small, each by about `rate`. A
  // gradient that is longer than `longest` is cut to that (Pascanu, Mikolov, Bengio, "On the
  // difficulty of training recurrent neural networks", ICML 2013); one that is not finite is left
  // out. `gradient` and `weights` are as long as `size`.
  void step(std::span<double> weights, std::span<const double> gradient, double rate,
            double longest);

  json save() const;
  Result<void> load(const json& state);  // all or nothing; of the same size

 private:
  std::vector<double> mean_, square_;  // decaying sums of the gradients and of their squares
  std::int64_t steps_ = 0;
};

}  // namespace attune
