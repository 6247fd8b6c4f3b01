#pragma once
// What holds for one trial; most trials of an experiment share theirs.
#include <cstdint>
#include <map>
#include <string>

#include "backends/resources.h"
#include "manager/trials/retries.h"

namespace attune {

struct TrialRules {
  Resources resources;
  Retries retries;
  std::int64_t checkpoint_frequency = 0;  // reports between two; 0: none
  bool checkpoint_at_end = false;         // one when it completes or is stopped early
  // It is complete once a report has reached one of these, each at least so high. A report that
  // lacks one fails the trial.
  std::map<std::string, double> stop;
};

}  // namespace attune
