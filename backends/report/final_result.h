#pragma once
// The final result of an attempt that has ended and does not call any result its final one.
#include <optional>

#include "backends/report/report_rules.h"
#include "backends/report/spool_reader.h"
#include "backends/trial_backend.h"
#include "backends/trial_folder.h"

namespace attune {

// May change `end`: with How::exit_code an exit is a success, and an
// attempt whose result file cannot be read has failed, for the reason in `end.detail`.
//
// Lines: the last one that has a number for the objective, of an attempt that succeeded; a problem
// when there was none. A result file: JSON, or what its regular expression found in the last line
// that matches; with a number for the objective, no larger than kMaxResultFile, no link, no FIFO.
// An exit code: up to 125; above that a shell says that it could not run the command, or that a
// signal ended it, which stays a failure.
//
// Nothing for How::metrics_file, and where an earlier manager has had the final result already.
std::optional<TrialEvent> final_result(const ReportRules& rules, const SpoolReader& spool,
                                       const TrialFolder& folder, TrialFinished& end);

inline constexpr std::size_t kMaxResultFile = 1 << 20;

}  // namespace attune
