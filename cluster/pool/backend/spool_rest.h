#pragma once
// Reads from the directory that manager and workers share what an attempt has written and what did
// not come over the connection.
#include <cstdint>
#include <filesystem>
#include <optional>
#include <vector>

#include "backends/report/report_rules.h"
#include "backends/trial_backend.h"

namespace attune {

struct KnownAttempt {
  std::filesystem::path folder;  // of the trial
  const TrialStart& start;
  std::uint64_t position = 0;    // behind the newest known report
  std::optional<Ending> wanted;  // stopped or paused: reports are late from now on
};

// The reports and problems behind `position`; none if there is no spool. `ended`: nothing more will
// be written. `end` is the end of the attempt, and may be null. If it is given, and the attempt has
// reported no final result, one is made as `rules` say; and if it says lost but the files show that
// the trial succeeded, it becomes succeeded.
std::vector<TrialEvent> read_rest(const KnownAttempt& attempt, const ReportRules& rules, bool ended,
                                  TrialFinished* end);

}  // namespace attune
