#pragma once
// Arguments that several tuners with brackets have.
#include <string>
#include <vector>

#include "rungs/sync_brackets_sizes.h"
#include "tuners/parts/bracket_tuner.h"

namespace attune {

// The metric that says how much of its resource a trial has used.
Argument resource_argument(const std::string& name);
// From the resolved arguments of the rule `owner`; `resource_argument` is the name of that
// argument.
Result<BracketTuner::Setup> bracket_setup(const std::string& owner, const json& args,
                                          const TunerContext& context, const Rng& rng,
                                          const std::string& resource_argument, double max_t);

// Of synchronous Hyperband: resource_attr, max_t, grace_period, reduction_factor, brackets,
// searcher, in Syne Tune's words. And the brackets that they describe.
std::vector<Argument> sync_bracket_arguments();
Result<std::vector<RungSizes>> sync_bracket_sizes(const std::string& owner, const json& args);

}  // namespace attune
