#pragma once
// The values of a parameter at which analysis/posterior.h looks.
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "space/space.h"

namespace attune {

// As PosteriorAxis::values: at most `most` >= 2 numbers, or all candidates of a choice. The error
// names the path: see Posterior.
Result<std::vector<double>> axis_values(const Param& param, std::size_t most);

// The path in quotes for an error, cut if it is long.
std::string quoted_path(std::string_view path);

// `count` >= 2 whole numbers in [0, n), evenly spread, both ends among them; all if there are not
// more.
std::vector<std::size_t> evenly(std::size_t n, std::size_t count);

}  // namespace attune
