#pragma once
// What the trial runner decides and notices besides the trials themselves.
#include <optional>
#include <string>
#include <string_view>

#include "manager/trials/end_asked.h"

namespace attune {

// How an experiment ended.
struct ExperimentEnd {
  enum class Kind { completed, interrupted, failed };
  Kind kind = Kind::completed;
  std::string reason;  // one sentence; of a failure: what to do about it
};

struct DecisionRecord {
  std::string job_id;
  std::string action;  // "stop", "pause", "checkpoint", "retry", "resume", ...
  std::string by;      // "decider", "user", "limit", "runner"
  std::string reason;
  std::optional<EndAsked::Kind> ends = {};  // of "stop" and "pause": what the end will mean
};

enum class EventKind {
  warning,
  notice,       // of what went well again
  interrupted,  // the experiment was told to end
  update,       // the user has changed it
};
std::string_view to_text(EventKind kind);

struct RunnerEvent {
  EventKind kind;
  std::string text;
  std::string job_id = {};  // of the trial that it is about; empty: the experiment
};

}  // namespace attune
