#pragma once
// Shared by the tests of space/.
#include <string>

#include "base/rng.h"
#include "space/space.h"

namespace attune {

// The space of a JSON text that must be right.
Space space_of(const std::string& text);

// Whether every value is in its domain and exactly the active ones are there. Independent of the
// code under test: it knows the rules by itself.
bool in_space(const Space& space, const Point& point);

struct RandomSpace {
  int max_params = 4;   // in one object
  int max_depth = 3;    // of nested choices
  bool finite = false;  // only domains with at most a few values
};

// A search space in JSON with domains of every type.
json random_space(Rng& rng, const RandomSpace& options);

}  // namespace attune
