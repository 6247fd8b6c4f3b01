#pragma once
// What the store holds, in the forms of NNI's manager (NNI 2.7 to 3.0): the answers of its REST
// API, and its list of experiments. Times are milliseconds since 1970-01-01 UTC.
#include <cstdint>
#include <optional>
#include <string>

#include "base/json.h"
#include "manager/store/store_reader.h"

namespace attune {

// {"status": "RUNNING", "errors": []}. A manager that was killed is an ERROR.
json nni_status(const StoredExperiment& experiment, const Tally& tally);

// The experiment with its configuration in `params`, as GET /experiment answers. `now`: seconds
// since 1970.
json nni_profile(const StoredExperiment& experiment, const Tally& tally, double now);

// The experiment in the list of all, without the members `port` and `prefixUrl`.
json nni_entry(const StoredExperiment& experiment, const Tally& tally);

json nni_statistics(const Tally& tally);

// A trial of /trial-jobs. `now`: what counts as the start of a trial that waits, because NNI's
// clients need one.
json nni_trial(const StoredExperiment& experiment, const TrialRecord& trial, double now);

// What the trial has found, as /export-data lists it; nothing: it did not succeed with a result.
std::optional<json> nni_result(const StoredExperiment& experiment, const TrialRecord& trial);

// Metrics as /metric-data lists them. The data are JSON text inside of JSON text. `sequence` counts
// the intermediate results of a trial from 0 without a gap: NNI's page takes it as an index.
// Nothing: there is no such metric.
std::optional<json> nni_final(const StoredExperiment& experiment, const TrialRecord& trial);
std::optional<json> nni_latest(const StoredExperiment& experiment, const TrialRecord& trial,
                               double now);
std::optional<json> nni_intermediate(const StoredExperiment& experiment, const std::string& job_id,
                                     const StoredReport& report, std::int64_t sequence);

}  // namespace attune
