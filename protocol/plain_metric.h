#pragma once
// A fast parser for the most frequent command, ReportMetricData. Private to the room: see codec.h.
#include <optional>
#include <string_view>

#include "protocol/command.h"

namespace attune {

// Reads a ReportMetricData as nearly all of them are: a flat object of exactly parameter_id (an
// integer), trial_job_id, type (PERIODICAL or FINAL), sequence and value (a finite number, as
// text), in any order, all text printable ASCII without escapes. docs/performance.md says what this
// saves over the general parser, which builds a tree of values first.
//
// Nothing for any other payload, a wrong one included: then the general parser reads it, and its
// error names the mistake. If this returns a command, the general parser would return the same.
std::optional<ReportMetricData> read_plain_metric(std::string_view payload);

}  // namespace attune
