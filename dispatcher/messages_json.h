#pragma once
// What a worker has said and io has not handled yet, as part of a saved state.
#include "base/json.h"
#include "base/result.h"
#include "dispatcher/messages.h"

namespace attune {

// Not for TunerState, AssessorState, Failed and Finished, which are never part of a state.
json save_message(const WorkerMessage& message);
Result<WorkerMessage> load_message(const json& state);

}  // namespace attune
