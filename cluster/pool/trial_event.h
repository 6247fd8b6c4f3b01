#pragma once
// Events of a trial on a worker, as JSON for the wire: the member `event` of an info message.
#include "backends/trial_backend.h"
#include "base/json.h"
#include "base/result.h"
#include "cluster/pool/task.h"

namespace attune {

// Leaves out the job id: the task determines the trial. Only the text of a report may contain
// numbers that JSON does not allow, such as NaN.
json to_json(const TrialEvent& event);
// Errors name the field.
Result<TrialEvent> parse_trial_event(const std::string& job_id, const json& object);

// A report in the form that commanders read: {"event": "report", "type": "PERIODICAL", "FINAL" or
// "REQUEST_PARAMETER", "sequence", "value"}. Any other event is returned as it is.
json with_value(const json& event);

// The state in which an attempt that ends like this leaves its task.
TaskState state_of(Ending ending);

}  // namespace attune
