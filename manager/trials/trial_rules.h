#pragma once
// The rules for one trial. Most trials of an experiment share one object.
#include <cstdint>
#include <map>
#include <string>

#include "backends/resources.h"
#include "manager/trials/retries.h"

namespace attune {

struct TrialRules {
  Resources resources;
  Retries retries;
  // A checkpoint is saved after every so many iterations (`training_iteration`, else counted
  // reports); 0: never.
  std::int64_t checkpoint_frequency = 0;
  bool checkpoint_at_end = false;  // also when it succeeds or is stopped early
  // By metric: the trial is complete once an intermediate result is at least so high in one of
  // them. A result that lacks one of the metrics fails the trial.
  std::map<std::string, double> stop;
};

}  // namespace attune
