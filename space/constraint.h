#pragma once
// Hard constraints: expressions over parameters, such as "lr * batch < 10". docs/search-space.md.
#include <string>
#include <vector>

#include "base/result.h"
#include "space/space.h"

namespace attune {

// Puts the constraints into the space, in place of those that it has. Errors name the constraint by
// its index, and the mistake with its position, counted from 0; then the space is as before:
//   constraints[1] "lr * bach < 10": unknown parameter "bach" at position 5; did you mean "batch"?
Result<void> set_constraints(Space& space, const std::vector<std::string>& texts);

// Whether the text is a constraint of the space. The error has no index.
Result<void> check_constraint(const Space& space, const std::string& text);

}  // namespace attune
