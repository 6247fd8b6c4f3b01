#pragma once
// Saves and loads messages that wait in a worker's queue, as part of a snapshot. Values come back
// exactly (messages_json.h).
#include "base/json.h"
#include "base/result.h"
#include "dispatcher/messages.h"

namespace attune {

// Not for SaveState, which is never part of a state.
json save_queued(const TuneMessage& message);
json save_queued(const AssessMessage& message);

// Takes any JSON; errors name the member. `most_asked`: trials of a request (Limits::request).
template <class Message>
Result<Message> load_queued(const json& state, std::size_t most_asked);
template <>
Result<TuneMessage> load_queued(const json& state, std::size_t most_asked);
template <>
Result<AssessMessage> load_queued(const json& state, std::size_t most_asked);

}  // namespace attune
