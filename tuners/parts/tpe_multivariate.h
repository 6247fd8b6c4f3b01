#pragma once
// The multivariate rule of the tuner TPE. Private to TPE.
#include <memory>
#include <vector>

#include "base/arguments.h"
#include "base/result.h"
#include "base/rng.h"
#include "tuners/tuner.h"

namespace attune {

std::vector<Argument> multivariate_tpe_arguments();

// `args` are resolved against multivariate_tpe_arguments().
std::unique_ptr<Tuner> make_multivariate_tpe(const json& args, const Context& context, Rng rng);

}  // namespace attune
