#pragma once
// What the io thread and the workers tell each other, as part of a saved state. Exactly: parameters
// and metrics come back as they were, NaN, infinities and the kinds of numbers included. Loading
// takes any JSON; errors name the member.
#include "base/json.h"
#include "base/result.h"
#include "dispatcher/messages.h"

namespace attune {

// The key of a saved message that says which kind of message it is.
inline constexpr const char* kMessageKind = "kind";

// What a worker has said and io has not handled yet. Not for TunerState, AssessorState, Failed and
// Finished, which are never part of a state.
json save_message(const WorkerMessage& message);
Result<WorkerMessage> load_message(const json& state);

json save_offer(const Offer& offer);
Result<Offer> load_offer(const json& state);

json save_decision(const Decision& decision);
Result<Decision> load_decision(const json& state);

// JSON of the manager's or for it, as a text: a state is written as strict JSON, which has neither
// NaN nor infinities.
json save_json(const json& value);
Result<json> json_at(const json& object, std::string_view key);

}  // namespace attune
