#pragma once
// Turns the records of an attempt's end into TrialFinished.
#include <signal.h>

#include <optional>
#include <string>

#include "backends/report/spool_reader.h"
#include "backends/trial_backend.h"

namespace attune {

// `wanted`: how this manager told the attempt to end, if it did. An attempt that was told to stop
// or pause counts as stopped or paused, however it ended: a trial that ran to its end just when it
// was to be paused is paused, and the decision stands. Without an exit record the attempt is lost.
// The caller fills in the job id, and for a lost attempt the time and the detail.
TrialFinished end_of_attempt(const AttemptFacts& facts, std::optional<Ending> wanted);

inline constexpr char kSpoolDamaged[] = "its spool was damaged: only its shim may write there";
// The reason why an attempt is lost, for TrialFinished::detail. `shim`: what waitid() returned for
// the shim; all zero if it was not a child of this process.
std::string why_lost(const siginfo_t& shim);

}  // namespace attune
