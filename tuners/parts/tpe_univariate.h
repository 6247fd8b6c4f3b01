#pragma once
// The univariate rule of the tuner TPE, which is NNI's. Private to TPE.
#include <memory>
#include <vector>

#include "base/arguments.h"
#include "base/rng.h"
#include "tuners/tuner.h"

namespace attune {

std::vector<Argument> univariate_tpe_arguments();

// `args` are resolved against univariate_tpe_arguments().
std::unique_ptr<Tuner> make_univariate_tpe(const json& args, Rng rng);

}  // namespace attune
