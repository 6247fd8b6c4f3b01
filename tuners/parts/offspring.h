#pragma once
// How genetic algorithms make a configuration of two others.
#include <cstddef>
#include <optional>
#include <vector>

#include "base/rng.h"
#include "space/features.h"
#include "space/space.h"

namespace attune {

// Probabilities, and the distribution indices of math/variation.h.
struct Variation {
  double crossover = 0.9;  // of a child to have two parents
  double swapping = 1;     // of a parameter to be crossed
  // Of a parameter to mutate; nothing: 1 / (active parameters).
  std::optional<double> mutation = {};
  double crossover_eta = 20;
  double mutation_eta = 5;
};

// Parameters in order. What is a position (space/features.h) is crossed by simulated binary
// crossover and mutated polynomially, to the next of its values at least; others are taken from
// either parent, and another candidate is drawn for a mutation. An option of a nested choice comes
// with what is inside of it from a parent that has this option; from both if both have it; drawn at
// random if none does.
class Offspring {
 public:
  Offspring(const Space& space, const Variation& variation);  // keeps a copy

  // Of the space; may be the same as a parent, and may break constraints.
  Point operator()(const Point& first, const Point& second, Rng& rng) const;

 private:
  struct Gene {
    double value = 0;
    double position = 0;  // if it has one
  };

  Gene crossed(std::size_t i, const Gene& first, const Gene& second, Rng& rng) const;
  double mutated(std::size_t i, const Gene& gene, Rng& rng) const;

  Space space_;
  Features features_;
  std::vector<bool> is_fixed_;  // of each parameter: it has one value
  Variation variation_;
};

}  // namespace attune
