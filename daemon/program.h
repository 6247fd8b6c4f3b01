#pragma once
// The program attuned, except for its algorithms and its entropy, which main() brings.
#include <cstdint>

#include "daemon/crew.h"

namespace attune {

// From the command line to the exit code. `entropy` seeds a tuner that was given no seed.
int run_daemon(int argc, char** argv, const Algorithms& algorithms, std::uint64_t entropy);

}  // namespace attune
