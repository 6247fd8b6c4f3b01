#pragma once
// What an assessor was told since its state was last saved, and the reports that it was shown.
#include <map>
#include <variant>
#include <vector>

#include "base/json.h"
#include "base/result.h"
#include "base/trial.h"

namespace attune {

struct Assessed {
  TrialId trial = 0;
  std::size_t reports = 0;  // that it was shown
};
struct Ended {
  TrialId trial = 0;
  End end = End::completed;
};
using AssessorEvent = std::variant<Assessed, Ended>;

// A report that was told again counts with its new value from the beginning.
struct AssessorEvents {
  std::vector<AssessorEvent> events;
  std::map<TrialId, std::vector<Report>> reports;  // of the trials in `events`
};

json save_events(const AssessorEvents& events);
Result<AssessorEvents> load_assessor_events(const json& state);

}  // namespace attune
