#pragma once

#include <cstddef>
#include <istream>
#include <memory>
#include <ostream>
#include <span>

#include "examples/digits/config.h"

namespace digits {

// Turns gradients into a step. It must always be given the same parameters: it keeps one or two
// numbers of its own for each.
class Optimizer {
 public:
  virtual ~Optimizer() = default;
  // `rate_factor` multiplies the configured learning rate; this is how it decays.
  virtual void step(std::span<float> parameters, std::span<const float> gradients,
                    double rate_factor) = 0;
  // Its own numbers. restore() fails the stream if they are those of another kind of optimizer, or
  // of more than `parameters` parameters.
  virtual void save(std::ostream& out) const = 0;
  virtual void restore(std::istream& in, std::size_t parameters) = 0;
};

std::unique_ptr<Optimizer> make_optimizer(const Config& config);

}  // namespace digits
