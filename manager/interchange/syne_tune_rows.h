#pragma once
// The table of results of Syne Tune: a row for each report, with the columns trial_id, st_decision,
// st_status, config_NAME, and a column for each metric.
#include <string>
#include <utility>
#include <vector>

#include "base/json.h"

namespace attune {

using PlacedRows = std::vector<std::pair<std::string, json>>;  // "row 3" and the row, an object

bool is_syne_tune(const PlacedRows& rows);
// A row for each trial, by its last report: `trial_job_id`, `parameters`, and `value`, an object of
// all metrics. The value is null if Syne Tune has stopped or paused the trial there, or if the
// trial has failed.
PlacedRows syne_tune_trials(const PlacedRows& rows);

}  // namespace attune
