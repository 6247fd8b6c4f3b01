#pragma once
// Parameters for programs whose parameters are a flat list: a parameter of an option is
// "optimizer.sgd.momentum".
#include <string>
#include <utility>
#include <vector>

#include "base/json.h"
#include "space/space.h"

namespace attune {

// The name of an option of a nested choice, or a candidate, as text: "sgd", "3".
std::string candidate_text(const json& candidate);

// One for each parameter of the space, in its order.
std::vector<std::string> flat_names(const Space& space);

// The parameters that a trial has, each a number, true or false, or a text: of what is none of
// these, its JSON. `names`: flat_names(space). If the parameters do not lie in the space: the
// members of the object.
std::vector<std::pair<std::string, json>> flat_parameters(const Space& space,
                                                          const std::vector<std::string>& names,
                                                          const json& parameters);

}  // namespace attune
