#pragma once
// Functions of reals whose least value is known: the families of BBOB (Hansen, Finck, Ros, Auger,
// "Real-Parameter Black-Box Optimization Benchmarking 2009: Noiseless Functions Definitions"). They
// differ from BBOB in their rotations (ten reflections, so that 1,000 dimensions are cheap), and
// have no penalty outside of the box.
#include <functional>
#include <span>

#include "base/rng.h"

namespace attune::bench {

// A function of x in [-5, 5]^d. Its least value is 0.
using RealFunction = std::function<double(std::span<const double>)>;

// `number`: that of BBOB, one of numbers_of_functions(). `dimensions` >= 2. `rng` draws optimum and
// rotations. Throws std::invalid_argument for another number.
RealFunction real_function(int number, std::size_t dimensions, Rng rng);
std::span<const int> numbers_of_functions();

}  // namespace attune::bench
