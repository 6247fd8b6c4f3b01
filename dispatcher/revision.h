#pragma once
#include <cstdint>

namespace attune {

// How the daemon answers. An experiment keeps the revision with which it began, because a replay
// compares all answers with the former ones.
//
//   0: NewTrialJob has no reason. Pong does not wait for what follows from a decision. No trial
//      waits for the checkpoint of one that is being stopped.
//   1: NewTrialJob has a reason, if the manager understands one. Pong and trials wait for these.
inline constexpr std::int64_t kRevision = 1;

}  // namespace attune
