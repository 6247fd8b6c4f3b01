#pragma once
// How many tasks a worker has room for.
#include "backends/resources.h"

namespace attune {

// How many tasks with these needs fit at the same time: a whole number from 0 to 10^9. Tasks that
// need nothing: 10^9.
double slots(const Resources& capacity, const Resources& needs);

}  // namespace attune
