#pragma once
// Finds the final result of an ended attempt that reported none as its final one by itself.
#include <optional>

#include "backends/report/report_rules.h"
#include "backends/report/spool_reader.h"
#include "backends/trial_backend.h"
#include "backends/trial_folder.h"

namespace attune {

// Returns the final result, or a problem for the user, by the rule of the experiment:
// * lines, tune_metric: the last line that has a number for the objective, if the attempt
//   succeeded; a problem if there was none.
// * result_file: what the file holds, a number or an object with a number for the objective, if the
//   attempt succeeded. The file is JSON, or its last line that matches a regular expression; it
//   must be no larger than kMaxResultFile, no link and no FIFO. If there is no such result, `end`
//   becomes failed, with the reason in `end.detail`.
// * exit_code: the code of an attempt that ended by itself, if it is at most 125; then `end`
//   becomes a success. Above that a shell says that it could not run the command, or that a signal
//   ended it; that stays a failure.
// Nothing for How::metrics_file, and if an earlier manager has had the final result already.
std::optional<TrialEvent> final_result(const ReportRules& rules, const SpoolReader& spool,
                                       const TrialFolder& folder, TrialFinished& end);

inline constexpr std::size_t kMaxResultFile = 1 << 20;

}  // namespace attune
