#pragma once
// Parses what the coordinator and a worker say of an attempt. The coordinator passes a worker's
// words on as they are, so they are checked here: a manager must survive whatever one of its
// workers says.
#include <cstdint>
#include <string>

#include "backends/trial_backend.h"
#include "base/json.h"
#include "base/result.h"

namespace attune {

struct WorkerInfo {
  TrialEvent event;            // a report or a problem
  std::uint64_t after = 0;     // position of the report before this event, as the worker knows it
  std::uint64_t position = 0;  // of the report; 0: the event is no report
};
// The `event` of an info. Errors name the field.
Result<WorkerInfo> parse_worker_info(const std::string& job_id, const json& event);

// A `state` message of an attempt that a worker has: where it runs, and for how long. The result
// has no job id. Errors name the field.
Result<TrialPlace> parse_place(const json& message);

struct WorkerEnd {
  TrialFinished finished;
  std::uint64_t position = 0;  // of the last report
};
// The `report` of a `finished` message, JSON text. Errors name the field.
Result<WorkerEnd> parse_worker_end(const std::string& job_id, const std::string& report);

}  // namespace attune
