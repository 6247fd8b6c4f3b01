#pragma once
#include "space/space.h"

namespace attune {

// A value in the middle of a domain: of numbers the middle of their scale, the logarithmic one of a
// log domain; of a scale of candidates the middle one; of other candidates the first ones.
double middle(const Domain& domain);

}  // namespace attune
