#pragma once
// Crossover and mutation of genetic algorithms, for one real coordinate in [0, 1].
//
// A larger eta (at least 0) keeps children nearer to their parents. The distance is of the order of
// 1 / eta: of the parents' distance for a crossover, of the interval for a mutation.
#include "base/rng.h"

namespace attune {

// Simulated binary crossover: returns one of the two children of a and b, either with equal
// probability. The child lies in [0, 1]; if a == b, it is a. Deb, Agrawal, "Simulated Binary
// Crossover for Continuous Search Space" (Complex Systems 1995), bounded as by Deb, Goyal, "A
// Combined Genetic Adaptive Search (GeneAS) for Engineering Design" (1996).
double simulated_binary_crossover(double a, double b, double eta, Rng& rng);

// Polynomial mutation (Deb, Goyal 1996), bounded: a step up or down that does not leave [0, 1].
double polynomial_mutation(double x, double eta, Rng& rng);

}  // namespace attune
