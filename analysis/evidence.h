#pragma once
// What is known of the trials of an experiment, and how much each parameter matters.
#include <cstddef>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "space/space.h"

namespace attune {

// Point k has result k, a finite number. A point may lack any values: they are not active.
struct Evidence {
  Space space;
  std::vector<Point> points;
  std::vector<double> results;
};

// By the path of a parameter: the largest first, of equal ones in their order in the space.
using Importances = std::vector<std::pair<std::string, double>>;

// The shares, one for each parameter of the space, in the order of Importances.
Importances in_order(const Space& space, std::span<const double> shares);

// The same for amounts >= 0, which it divides by their sum; 0 stays 0.
Importances shares_of(const Space& space, std::span<const double> amounts);

// The space for Features whose parameters share no dimension: those of one name in several options
// have one each.
Space with_own_names(Space space);

}  // namespace attune
