#pragma once
// Makes a configuration from two others, for genetic algorithms: crossover and mutation.
#include <cstddef>
#include <optional>
#include <vector>

#include "base/rng.h"
#include "space/features.h"
#include "space/space.h"

namespace attune {

// Probabilities, and the distribution indices of math/variation.h (larger: children nearer to their
// parents).
struct Variation {
  double crossover = 0.9;  // that a child has two parents
  double swapping = 1;     // that a parameter is crossed, if there are two parents
  // That a parameter mutates. Nothing: 1 / (active parameters).
  std::optional<double> mutation = {};
  double crossover_eta = 20;
  double mutation_eta = 5;
};

// Builds the child parameter by parameter, in the order of the space. Parameters with a position
// (space/features.h) are crossed by simulated binary crossover and mutated polynomially; a mutation
// moves at least to the next value. Other parameters are taken from either parent; a mutation draws
// another candidate.
//
// In a nested choice, the parameters of the child's option come from the parents that have this
// option; from both if both have it; drawn at random if none has.
class Offspring {
 public:
  Offspring(const Space& space, const Variation& variation);  // keeps a copy

  // The child lies in the space. It may equal a parent, and may break constraints.
  Point operator()(const Point& first, const Point& second, Rng& rng) const;

 private:
  struct Gene {
    double value = 0;
    double position = 0;  // if the parameter has one
  };

  Gene crossed(std::size_t i, const Gene& first, const Gene& second, Rng& rng) const;
  double mutated(std::size_t i, const Gene& gene, Rng& rng) const;

  Space space_;
  Features features_;
  std::vector<bool> is_fixed_;  // of each parameter: it has only one value
  Variation variation_;
};

}  // namespace attune
