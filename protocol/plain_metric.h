#pragma once
// The short way to read the command of which a daemon reads most. Private to the room: see codec.h.
#include <optional>
#include <string_view>

#include "protocol/command.h"

namespace attune {

// A ReportMetricData as nearly all of them are: a flat object of exactly parameter_id (an integer),
// trial_job_id, type (PERIODICAL or FINAL), sequence and value (a finite number, as text), in any
// order, all text printable ASCII without escapes. docs/performance.md says what it saves over the
// general way, which builds a tree of values first.
//
// Nothing for any other payload, also for a wrong one: the general way reads it then, and names the
// mistake. Where this gives a command, the general way gives the same.
std::optional<ReportMetricData> read_plain_metric(std::string_view payload);

}  // namespace attune
