#pragma once
// Local maximisation of a smooth function inside a box: L-BFGS (Nocedal, "Updating Quasi-Newton
// Matrices with Limited Storage", 1980), NLopt's.
#include <functional>
#include <span>
#include <vector>

namespace attune {

// The value at x; writes the gradient. Both of x's size. Must not throw. A value that is not finite
// ends the search.
using SmoothFunction = std::function<double(std::span<const double> x, std::span<double> gradient)>;

struct Box {
  std::vector<double> low, high;  // of one size, low <= high
};

struct Maximum {
  std::vector<double> x;
  double value = 0;
};

// From `start`, which is clipped into the box, with at most so many evaluations; ends early when a
// step changes the value by less than `tolerance`. The best point met, even if the search failed.
Maximum maximise(const SmoothFunction& function, const Box& box, std::vector<double> start,
                 int evaluations, double tolerance);

}  // namespace attune
