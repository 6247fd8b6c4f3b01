#pragma once
// The key `report` of an experiment file.
#include <string>

#include "backends/report/report_rules.h"
#include "manager/experiment/section.h"

namespace attune {

// `metricsFile` (default), `tuneMetric`, {regex, stream}, a list of these, {file, regex}, or
// {exitCode: true}. A regular expression must have a named group `objective`, unless that is empty:
// unknown. What is wrong is a finding.
ReportRules read_report(const Section& top, const std::string& objective);

// Why a file of a trial cannot have that name; empty when it can: it stays inside of the folder of
// the trial and is none of attune's own.
std::string flaw_of_trial_file(const std::string& name);

}  // namespace attune
