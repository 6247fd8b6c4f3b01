#pragma once
// Reads the key `report` of an experiment file: how trials report their results.
#include <string>

#include "backends/report/report_rules.h"
#include "manager/experiment/section.h"

namespace attune {

// The key is `metricsFile` (default), `tuneMetric`, {regex, stream}, a list of such objects,
// {file, regex}, or {exitCode: true}. `objective`: the name of the metric to optimise; each regular
// expression must have a group of that name. Empty: unknown, and groups are not checked. Mistakes
// become findings of `top`.
ReportRules read_report(const Section& top, const std::string& objective);

// Why a file in the folder of a trial cannot have that name: the path leads out of the folder, or
// is that of a file of attune. Empty: it can.
std::string flaw_of_trial_file(const std::string& name);

}  // namespace attune
