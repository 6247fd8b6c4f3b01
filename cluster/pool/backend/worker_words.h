#pragma once
// What a coordinator and a worker say of an attempt. What a worker says the coordinator passes on
// to the manager as it is, and here it is checked: a manager must live with the words of every
// worker that it has.
#include <cstdint>
#include <string>

#include "backends/trial_backend.h"
#include "base/json.h"
#include "base/result.h"

namespace attune {

struct WorkerInfo {
  TrialEvent event;            // a report or a problem
  std::uint64_t after = 0;     // position of the report before it, as far as the worker knows
  std::uint64_t position = 0;  // of the report; 0: it is none
};
// The `event` of an info. Errors name the field.
Result<WorkerInfo> parse_worker_info(const std::string& job_id, const json& event);

// Of a `state` of an attempt that a worker has: where it runs, since when. Without the job id.
// Errors name the field.
Result<TrialPlace> parse_place(const json& message);

struct WorkerEnd {
  TrialFinished finished;
  std::uint64_t position = 0;  // of the last report
};
// The `report` of a finished, JSON text. Errors name the field.
Result<WorkerEnd> parse_worker_end(const std::string& job_id, const std::string& report);

}  // namespace attune
