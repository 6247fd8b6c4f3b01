#pragma once
// Cuts a request for many trials, which is one message, into pieces. Between two pieces a worker
// can save its state or end, and the answers that it has found leave.
#include <cstdint>
#include <optional>

#include "dispatcher/messages.h"

namespace attune {

// Proposals of one piece. 16 proposals of the slowest tuner take about a second, which is what a
// kill can cost; 16 of the fastest still take longer than handling a message. The size shapes the
// order of answers: if a proposal breaks a constraint, the next proposal for its id follows those
// of its piece. So the journal's header has the size with which its answers were found.
inline constexpr std::int64_t kAskAtOnce = 16;
inline constexpr std::int64_t kAskAtOnceInFormat1 = 256;

// Takes the next `at_once` trials off a request for more than that. Nothing: another message, or a
// request for no more than that.
std::optional<TuneMessage> take_piece(TuneMessage& message, std::int64_t at_once);

}  // namespace attune
