#pragma once
// Saves and loads messages of the workers, as part of a snapshot. Parameters and metrics come back
// exactly, NaN, infinities and the kinds of numbers included. Loading takes any JSON; errors name
// the member.
#include "base/json.h"
#include "base/result.h"
#include "dispatcher/messages.h"

namespace attune {

// The key of a saved message that says which kind of message it is.
inline constexpr const char* kMessageKind = "kind";

// A message that a worker has said and io has not handled. Not for TunerState, AssessorState,
// Failed and Finished, which are never part of a state.
json save_message(const WorkerMessage& message);
Result<WorkerMessage> load_message(const json& state);

json save_offer(const Offer& offer);
Result<Offer> load_offer(const json& state);

json save_decision(const Decision& decision);
Result<Decision> load_decision(const json& state);

// JSON of the manager or for it, saved as a text, because a state is strict JSON, which has neither
// NaN nor infinities.
json save_json(const json& value);
Result<json> json_at(const json& object, std::string_view key);

}  // namespace attune
