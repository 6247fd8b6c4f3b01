#pragma once
#include "assessors/registry.h"
#include "tuners/registry.h"

namespace attune::katib {

// Runs attune-katib until SIGTERM or SIGINT, and returns its exit code.
int run(int argc, char** argv, const TunerRegistry& tuners, const AssessorRegistry& assessors);

}  // namespace attune::katib
