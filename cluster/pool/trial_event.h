#pragma once
// What happens to a trial on a worker, as JSON for the wire: the `event` of an info.
#include "backends/trial_backend.h"
#include "base/json.h"
#include "base/result.h"
#include "cluster/pool/task.h"

namespace attune {

// Without the job id: the task says which trial it is. Numbers that are no JSON are in the text of
// a report only.
json to_json(const TrialEvent& event);
// Errors name the field.
Result<TrialEvent> parse_trial_event(const std::string& job_id, const json& object);

// A report for those who want to know what was reported: {"event": "report", "type": "PERIODICAL",
// "FINAL" or "REQUEST_PARAMETER", "sequence", "value"}; any other event as it is.
json with_value(const json& event);

// The end of the attempt as that of its task.
TaskState state_of(Ending ending);

}  // namespace attune
