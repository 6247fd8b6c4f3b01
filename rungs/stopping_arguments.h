#pragma once
// The arguments that assessors of the successive halving family share: their declarations, and what
// the checked arguments mean. Names and defaults are those of Ray Tune and Syne Tune. An error
// begins with `owner`, the assessor's name.
#include <string_view>

#include "base/arguments.h"
#include "rungs/stopping_ray.h"
#include "rungs/stopping_syne.h"

namespace attune {

// time_attr, max_t, grace_period, reduction_factor (with the given default), brackets.
std::vector<Argument> milestone_arguments(double reduction_factor);
Result<MilestoneOptions> milestone_options(std::string_view owner, const json& args);

// resource_attr, max_t, grace_period, reduction_factor, rung_increment, rung_levels, brackets.
// Levels are those of `rung_levels`, a text like "1,3,9"; else of rung_increment; else geometric.
std::vector<Argument> syne_stopping_arguments();
Result<SyneStoppingOptions> syne_stopping_options(std::string_view owner, const json& args,
                                                  bool maximise);

}  // namespace attune
