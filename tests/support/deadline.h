#pragma once
#include <chrono>

namespace attune {

// For what a test waits for and always gets: generous, for sanitizers on a busy machine.
constexpr std::chrono::milliseconds kDeadline{200'000};

}  // namespace attune
