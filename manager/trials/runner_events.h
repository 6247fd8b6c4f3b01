#pragma once
// What the trial runner tells its store and observer besides the records of trials: decisions,
// events for the user, and how the experiment ended.
#include <optional>
#include <string>
#include <string_view>

#include "manager/trials/end_asked.h"

namespace attune {

// How an experiment ended.
struct ExperimentEnd {
  enum class Kind { completed, interrupted, failed };
  Kind kind = Kind::completed;
  std::string reason;  // one sentence; of a failure, also what to do about it
};

struct DecisionRecord {
  std::string job_id;
  std::string action;  // "stop", "pause", "checkpoint", "retry", "resume", ...
  std::string by;      // "decider", "user", "limit", "runner"
  std::string reason;
  std::optional<EndAsked::Kind> ends = {};  // only of "stop" and "pause"
};

enum class EventKind {
  warning,
  notice,       // a problem is over
  interrupted,  // the experiment was told to end
  update,       // the user has changed it
};
std::string_view to_text(EventKind kind);

struct RunnerEvent {
  EventKind kind;
  std::string text;
  std::string job_id = {};  // the trial that the event concerns; empty: the experiment
};

}  // namespace attune
