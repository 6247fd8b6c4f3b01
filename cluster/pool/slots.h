#pragma once
// How many tasks a worker has room for.
#include "backends/resources.h"

namespace attune {

// Tasks of these needs that fit at a time, a whole number; 0: not even one. 10^9 of those that need
// nothing.
double slots(const Resources& capacity, const Resources& needs);

}  // namespace attune
