#pragma once
// Writes the parameters of a trial in forms that other programs accept.
#include <string>

#include "base/json.h"
#include "base/result.h"

namespace attune {

// All formats but yaml are one line. `format`:
//   args  --lr 0.1 --optimizer sgd --optimizer.momentum 0.9, quoted for a shell
//   env   export PARAM_LR=0.1 PARAM_OPTIMIZER=sgd PARAM_OPTIMIZER_MOMENTUM=0.9, for eval
//   json  a JSON object
//   yaml  the same as YAML in block style
// A nested choice is written as its name; its parameters follow, with the name of the choice and a
// point before theirs. Names of variables are in upper case; other characters than letters and
// digits become '_'; the prefix PARAM_ keeps them apart from variables that a shell or program
// uses. Error: a parameter cannot be written so; names it.
Result<std::string> parameter_text(const json& parameters, const std::string& format);

}  // namespace attune
