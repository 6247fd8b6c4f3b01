#pragma once
// Families of problems with several objectives or with limits.
#include <string_view>
#include <vector>

#include "bench/quality/problem.h"

namespace attune::bench {

// Several objectives, with and without limits: the groups objectives and both.
std::vector<Problem> trade_offs(std::string_view set);
// One objective and limits: the group limits.
std::vector<Problem> limited(std::string_view set);

}  // namespace attune::bench
