#pragma once
// What the store holds as JSON, for --json. docs/commands.md lists the keys. Times are seconds
// since 1970-01-01 UTC, null when it has not happened; NaN and infinities are null.
#include "base/json.h"
#include "runner/store/store_reader.h"

namespace attune {

json trial_json(const TrialRecord& trial, const std::string& objective);
json whole_trial_json(const StoredTrial& trial, const std::string& objective);
// `best` may be null.
json experiment_json(const StoredExperiment& experiment, const Tally& tally,
                     const TrialRecord* best);
json tally_json(const Tally& tally);

}  // namespace attune
