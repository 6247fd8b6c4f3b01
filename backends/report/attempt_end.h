#pragma once
// What the end of an attempt means.
#include <signal.h>

#include <optional>
#include <string>

#include "backends/report/spool_reader.h"
#include "backends/trial_backend.h"

namespace attune {

// `wanted`: the end that the attempt was told to come to by this manager. An attempt that was told
// to stop or pause has done so, however it ended: a trial that ran to its end just when it was to
// be paused is paused, and the decision stands. Without an exit record it is lost. The job id is
// left empty, and so are, of a lost attempt, the time and the detail.
TrialFinished end_of_attempt(const AttemptFacts& facts, std::optional<Ending> wanted);

inline constexpr char kSpoolDamaged[] = "its spool was damaged: only its shim may write there";
// Why an attempt is lost, for TrialFinished::detail. `shim`: what waitid() said of it; all zero
// when it was not our child.
std::string why_lost(const siginfo_t& shim);

}  // namespace attune
