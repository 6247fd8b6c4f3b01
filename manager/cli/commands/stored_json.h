#pragma once
// The content of the store as JSON, for --json. docs/commands.md lists the keys. Times are seconds
// since 1970-01-01 UTC; null: it has not happened. NaN and infinities are null. An object that is
// printed alone gets its key `format` by with_format().
#include "base/json.h"
#include "manager/control/json_format.h"
#include "manager/store/store_reader.h"

namespace attune {

json trial_json(const TrialRecord& trial, const std::vector<Objective>& objectives);
json whole_trial_json(const StoredTrial& trial, const std::vector<Objective>& objectives);
json experiment_json(const StoredExperiment& experiment, const Tally& tally,
                     const std::optional<BestSoFar>& best);
json tally_json(const Tally& tally);

// The output of `attune status --json`: experiment_json(), and the trials that run, wait, or failed
// last. Asks the manager, if one runs, why trials wait.
Result<json> status_json(StoreReader& reader, const StoredExperiment& experiment, double now);

// The output of `attune config --json`.
json config_json(const StoredExperiment& experiment);

}  // namespace attune
