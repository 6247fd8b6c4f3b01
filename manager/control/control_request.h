#pragma once
// The requests to a running manager through its control socket, one JSON object a line:
//   {"command": "stop", "kill": false}
//   {"command": "kill", "trials": ["t0012"]}
//   {"command": "add", "trials": [{"lr": 0.1}]}
//   {"command": "import", "records": [{"parameters": {"lr": 0.1}, "score": 0.9, "trial_job_id":
//   ""}]}                                     "value" instead of "score" is accepted
//   {"command": "update", "search_space": {...}, "concurrency": 4, "max_seconds": 3600,
//    "max_trials": 100}                       each of the last four may be missing
//   {"command": "status"}
// The answer is {"format": 1, "ok": true, ...} or {"format": 1, "ok": false, "error": "what is
// wrong, and the cure"}.
#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "base/json.h"
#include "base/result.h"
#include "protocol/command.h"

namespace attune {

struct StopRequest {
  bool kill = false;  // without grace for the trials
};
struct KillRequest {
  std::vector<std::string> trials;  // job ids
};
struct AddRequest {
  std::vector<json> trials;  // the parameters of each, an object
};
struct ImportRequest {
  std::vector<ImportData::Record> records;
};
struct UpdateRequest {
  json search_space;  // null: unchanged
  std::optional<int> concurrency;
  std::optional<double> max_seconds;
  std::optional<std::int64_t> max_trials;
};
struct StatusRequest {};

using ControlRequest =
    std::variant<StopRequest, KillRequest, AddRequest, ImportRequest, UpdateRequest, StatusRequest>;

json to_json(const ControlRequest& request);
// Errors name the key. A score of NaN or infinity is the text "NaN", "Infinity" or "-Infinity" in
// both directions, since JSON has no such numbers.
Result<ControlRequest> parse_control_request(const json& request);

}  // namespace attune
