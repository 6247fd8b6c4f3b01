#pragma once
// Real-coded variation of genetic algorithms, of one coordinate in [0, 1].
//
// A larger eta (at least 0) keeps children nearer to their parents: their distance is of the order
// 1 / eta of the parents' own one for a crossover, and of the interval for a mutation.
#include "base/rng.h"

namespace attune {

// Simulated binary crossover: one of the two children of a and b, either equally likely. Nothing
// lies outside of [0, 1], and a == b is its own child. Deb, Agrawal, "Simulated Binary Crossover
// for Continuous Search Space" (Complex Systems 1995), bounded as by Deb, Goyal, "A Combined
// Genetic Adaptive Search (GeneAS) for Engineering Design" (1996).
double simulated_binary_crossover(double a, double b, double eta, Rng& rng);

// Polynomial mutation (Deb, Goyal 1996), bounded: a step up or down that does not leave [0, 1].
double polynomial_mutation(double x, double eta, Rng& rng);

}  // namespace attune
