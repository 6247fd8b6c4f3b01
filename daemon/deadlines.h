#pragma once
// How long the daemon may take to end, from the moment at which it notices the reason.
#include <chrono>

namespace attune {

// Terminate, a signal: a model fit in progress is not waited for longer.
inline constexpr std::chrono::milliseconds kQuickStop{100};
// The end of input: what came before it is handled.
inline constexpr std::chrono::milliseconds kDrainStop{2000};

}  // namespace attune
