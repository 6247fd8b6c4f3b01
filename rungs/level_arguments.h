#pragma once
// Where the rungs are that the arguments of a rule ask for.
#include <cstdint>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "base/result.h"

namespace attune {

// The levels below max_t, ascending. `args` are resolved: max_t, grace_period, reduction_factor,
// and perhaps rung_increment or rung_levels, which is a text such as "1,3,9". An error names the
// argument of `owner`: it contradicts another one, or makes more than `most` rungs.
Result<std::vector<std::int64_t>> rung_levels(std::string_view owner, const json& args,
                                              std::size_t most);

}  // namespace attune
