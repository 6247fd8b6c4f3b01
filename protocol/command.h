#pragma once
// Every command of the protocol, one struct each; docs/protocol.md has the table. What a command
// carries for other rooms (a search space, parameters) stays opaque JSON here.
#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "base/json.h"

namespace attune {

// parameter_id on the wire: null (the manager's own trials), an integer, or a text (NNI's
// advisors).
using ParameterId = std::variant<std::monostate, std::int64_t, std::string>;

// ---- manager -> daemon

struct Initialize {  // IN
  json search_space;
  // What earlier experiments found: a list (dispatcher/earlier.h). Null: nothing; then the payload
  // is the search space, as in NNI, else {"search_space", "earlier"}.
  json earlier = nullptr;
};
struct RequestTrialJobs {  // GE; zero and negative counts ask for nothing
  std::int64_t count = 0;
};
struct ReportMetricData {  // ME
  enum class Type { periodical, final, request_parameter };
  Type type = Type::final;
  ParameterId parameter_id;
  std::string trial_job_id;  // may be empty
  std::int64_t sequence = 0;
  // The metric itself, already decoded from its JSON text; a text that is not JSON stays a string.
  json value;
  std::int64_t parameter_index = 0;  // request_parameter only
};
struct UpdateSearchSpace {  // SS
  json search_space;
};
struct ImportData {  // FD
  struct Record {
    json parameter;  // null when missing
    json value;      // decoded like ReportMetricData::value; null when missing
    std::string trial_job_id;
  };
  std::vector<Record> records;
};
struct AddCustomizedTrialJob {  // AD
  struct Trial {
    ParameterId parameter_id;
    std::string parameter_source;
    json parameters;
    // Of a resumed trial; only a manager with our extensions sends them.
    std::string trial_job_id = {};  // the job that continues; empty: unknown
    bool paused = false;            // capability "pause"
    std::string checkpoint = {};    // the newest; empty: none
  };
  std::vector<Trial> trials;
  bool resumed = false;  // sent as an array: NNI >= 2.10 re-runs these under their old ids
};
struct TrialEnd {  // EN
  enum class Event {
    succeeded,
    failed,
    user_canceled,
    sys_canceled,
    early_stopped,
    paused,
    pause_failed,
    unknown
  };
  std::string trial_job_id;
  Event event = Event::unknown;
  ParameterId parameter_id;  // from hyper_params; null when there are none
  json parameters;           // from hyper_params; null when there are none
  std::string checkpoint;    // with paused
};
struct Terminate {};  // TE
struct Ping {         // PI; with a token it is answered by Pong (capability "sync")
  std::string token;
};
struct CheckpointSaved {  // CK (capability "checkpoint")
  std::string trial_job_id;
  std::string checkpoint;  // empty: it could not be saved
};
struct Received {  // RC (capability "sync"): answers up to this number will not be forgotten
  std::uint64_t answers = 0;
};

// ---- daemon -> manager

struct Initialized {                     // ID
  std::optional<std::uint64_t> through;  // after a resume, capability "sync"
  std::string reason = {};               // why an exact resume was impossible, if it was
};
struct NewTrialJob {  // TR
  ParameterId parameter_id;
  std::string parameter_source = "algorithm";
  json parameters;
  std::int64_t parameter_index = 0;
  std::string resume_trial_job_id;  // empty: a new job
  std::string checkpoint_from;      // empty: from scratch
  std::string reason;               // of a trial that goes on; empty unless capability "reason"
};
struct SendTrialJobParameter {  // SP; parameters are null when there are no more
  ParameterId parameter_id;
  json parameters;
  std::string trial_job_id;
  std::int64_t parameter_index = 0;
};
struct NoMoreTrialJobs {  // NO
  ParameterId parameter_id;
  std::string reason;      // empty unless capability "reason"
  bool transient = false;  // the answers follow when the journal can be written again
};
struct KillTrialJob {  // KI
  std::string trial_job_id;
  std::string reason;
  // The trial has used its whole resource: its last report is its final result. Without this and
  // without a reason the payload is the bare id of plain NNI.
  bool complete = false;
};
struct DaemonError {  // ER (capability "error")
  std::string text;
};
struct Pong {  // PO (capability "sync")
  std::string token;
};
struct PauseTrialJob {  // PA (capability "pause")
  std::string trial_job_id;
  std::string reason;
};
struct SaveCheckpoint {  // CP (capability "checkpoint")
  std::string trial_job_id;
};
struct DropCheckpoint {  // CD (capability "checkpoint")
  std::string checkpoint;
};

using Command =
    std::variant<Initialize, RequestTrialJobs, ReportMetricData, UpdateSearchSpace, ImportData,
                 AddCustomizedTrialJob, TrialEnd, Terminate, Ping, CheckpointSaved, Received,
                 Initialized, NewTrialJob, SendTrialJobParameter, NoMoreTrialJobs, KillTrialJob,
                 DaemonError, Pong, PauseTrialJob, SaveCheckpoint, DropCheckpoint>;

}  // namespace attune
