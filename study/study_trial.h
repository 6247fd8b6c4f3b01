#pragma once
// What a study knows of one trial.
#include <optional>
#include <string>
#include <vector>

#include "base/json.h"
#include "base/trial.h"

namespace attune {

enum class TrialState {
  running,
  paused,  // by the tuner; ask() may hand it out again, from its beginning
  completed,
  diverged,  // completed with a value that is not finite
  failed,
  stopped,  // ended early; its last report counts for the tuner
};
std::string_view name_of(TrialState state);

struct StudyTrial {
  TrialId id = 0;
  json parameters = {};
  TrialState state = TrialState::running;
  std::optional<double> value =
      {};                // first objective as reported; of a stopped one the last report
  Metrics metrics = {};  // all of them, the first objective first
  std::vector<Report> reports = {};  // step k is element k
  std::string reason = {};           // why it failed or was stopped
};

// A trial to run.
struct Suggestion {
  TrialId id = 0;
  json parameters = {};
  bool operator==(const Suggestion&) const = default;
};

// The answer to an ask: trials, or why there are fewer than asked for.
struct Asked {
  std::vector<Suggestion> trials = {};
  bool no_more = false;     // there will be none; false: ask again after the next result
  std::string reason = {};  // of no_more
};

// The answer to a report.
struct Verdict {
  bool stop = false;
  std::string reason = {};
};

}  // namespace attune
