#pragma once
// Point <-> [0,1]^d, the one transform that every numeric tuner uses.
//
// Coordinates, in the order of the parameters:
//   Uniform   1: the position between low and high, linear or log; 0.5 for a constant
//   Normal    1: the cumulative probability; 0.5 for a constant
//   IntRange  1: (value - low + 0.5) / count, the centre of the value's cell
//   Choice    one for each candidate, 1 for the chosen one and 0 for the others
//   Subset    one for each candidate, 1 for the chosen ones
// Inactive parameters are imputed with the centre (0.5) of their coordinates.
#include <span>
#include <vector>

#include "space/space.h"

namespace attune {

class UnitCube {
 public:
  explicit UnitCube(const Space& space);  // keeps a copy

  std::size_t dimensions() const { return dimensions_; }

  // dimensions() numbers in [0, 1]; `point` must be of the space.
  std::vector<double> to_cube(const Point& point) const;

  // Nearest feasible point for any dimensions() numbers: rounds, clips, takes the largest
  // coordinate of a one-hot group (the first of equals); NaN counts as 0.5.
  //
  // from_cube(to_cube(p)) == p for every p that sample() can draw, reals without q to 1e-9 relative
  // to the range or sigma. Normals only within 5 sigma: beyond, a probability in double arithmetic
  // cannot tell the values apart, and what comes out is within 8.3 sigma.
  Point from_cube(std::span<const double> x) const;

 private:
  Space space_;
  std::size_t dimensions_ = 0;
};

}  // namespace attune
