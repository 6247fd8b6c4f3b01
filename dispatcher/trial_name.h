#pragma once
// How messages to the user name a trial.
#include <fmt/format.h>

#include <string>

#include "base/trial.h"

namespace attune {

// "trial 7". A trial of the manager's own has a negative number (jobs.h), which nobody outside
// knows: "trial 1 of the manager's own" is the first of them.
inline std::string trial_name(TrialId trial) {
  if (trial >= 0) return fmt::format("trial {}", trial);
  return fmt::format("trial {} of the manager's own", -1 - trial);
}

}  // namespace attune
