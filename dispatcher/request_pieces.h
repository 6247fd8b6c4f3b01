#pragma once
// A request for many trials is one message, and the tuner is asked for a piece of it at a time:
// between two pieces a worker can save its state or end, and what it has found leaves.
#include <cstdint>
#include <optional>

#include "dispatcher/messages.h"

namespace attune {

// Proposals at once. 16 of the slowest tuner take about a second, which is what a kill can cost;
// of the fastest they take longer than a message does. Part of the order of answers: where a
// constraint of the space turns a proposal down, the next one for that id follows those of its
// piece. So a journal says which size its answers were found with.
inline constexpr std::int64_t kAskAtOnce = 16;
inline constexpr std::int64_t kAskAtOnceInFormat1 = 256;

// Takes the next `at_once` trials off a request for more; nothing of any other message.
std::optional<TuneMessage> take_piece(TuneMessage& message, std::int64_t at_once);

}  // namespace attune
