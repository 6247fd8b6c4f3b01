#pragma once
// Finds a local maximum of a smooth function inside a box: L-BFGS (Nocedal, "Updating Quasi-Newton
// Matrices with Limited Storage", 1980), in NLopt's implementation.
#include <functional>
#include <span>
#include <vector>

namespace attune {

// Returns the value at x and writes the gradient, of x's size. It must not throw. If the value or
// the gradient is not finite, the search ends.
using SmoothFunction = std::function<double(std::span<const double> x, std::span<double> gradient)>;

struct Box {
  std::vector<double> low, high;  // of one size, low <= high
};

struct Maximum {
  std::vector<double> x;
  double value = 0;
};

// Searches from `start`, which is clipped into the box, with at most `evaluations` evaluations.
// Ends early when a step changes the value by less than `tolerance`. Returns the best point that
// was evaluated, even if the search failed.
Maximum maximise(const SmoothFunction& function, const Box& box, std::vector<double> start,
                 int evaluations, double tolerance);

}  // namespace attune
