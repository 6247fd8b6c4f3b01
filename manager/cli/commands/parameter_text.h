#pragma once
// The parameters of a trial as other programs take them.
#include <string>

#include "base/json.h"
#include "base/result.h"

namespace attune {

// On one line, but for yaml. `format`:
//   args  --lr 0.1 --optimizer sgd --optimizer.momentum 0.9, quoted for a shell
//   env   export PARAM_LR=0.1 PARAM_OPTIMIZER=sgd PARAM_OPTIMIZER_MOMENTUM=0.9, for eval
//   json  the object
//   yaml  the same in blocks
// A nested choice is its name, and its parameters behind a point. Names of variables are in upper
// case, what is neither letter nor digit becomes '_', and PARAM_ keeps them apart from those that
// mean something to a shell or a program. The error names the parameter that cannot be written so.
Result<std::string> parameter_text(const json& parameters, const std::string& format);

}  // namespace attune
