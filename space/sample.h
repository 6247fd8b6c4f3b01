#pragma once
// Exact sampling and rounding rules of search spaces.
#include "base/rng.h"
#include "space/space.h"

namespace attune {

// A draw from the declared distribution: parameters in order, inactive ones are not drawn.
Point sample(const Space& space, Rng& rng);
double sample(const Domain& domain, Rng& rng);

// Internal scale to value: the scale on which a domain is modelled is the logarithm for log
// domains and the value itself otherwise. from_internal exponentiates, rounds to q (half to even),
// and clips (Uniform only); for IntRange it rounds and clips into [low, high).
double from_internal(const Domain& domain, double x);
double to_internal(const Domain& domain, double value);

}  // namespace attune
