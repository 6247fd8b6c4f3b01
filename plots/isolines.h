#pragma once
// Lines of equal values over a grid.
#include <cstddef>
#include <span>
#include <utility>
#include <vector>

#include "plots/canvas.h"

namespace attune::plots {

// Pieces of the line where a function has the value `level`, from its values at a grid:
// values[j * xs.size() + i] at (xs[i], ys[j]), linear along the edges of each cell. Marching
// squares: Lorensen, Cline, "Marching Cubes" (SIGGRAPH 1987), in two dimensions; where all four
// edges are crossed, the mean of the corners decides which of them belong together. Cells with a
// corner that is not finite have no line.
std::vector<std::pair<Place, Place>> isolines(std::span<const double> xs,
                                              std::span<const double> ys,
                                              std::span<const double> values, double level);

}  // namespace attune::plots
