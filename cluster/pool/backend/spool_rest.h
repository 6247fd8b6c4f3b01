#pragma once
// What an attempt has written into the directory that manager and workers share, and what did not
// come over the connection.
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
  std::uint64_t position = 0;    // behind the newest report that is known
  std::optional<Ending> wanted;  // stopped or paused: what is reported now is late
};

// The reports and problems behind `position`. Nothing where there is no spool.
// `ended`: nothing more will be written. `end`, of an attempt that came to an end or is lost, may
// be null: without a final result of its own the attempt gets one as `rules` say, and what is lost
// and had succeeded before has succeeded.
std::vector<TrialEvent> read_rest(const KnownAttempt& attempt, const ReportRules& rules, bool ended,
                                  TrialFinished* end);

}  // namespace attune
