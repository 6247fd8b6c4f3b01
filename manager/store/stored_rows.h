#pragma once
// Converts rows of the store into values. Each function reads the columns that the constant before
// it lists, in that order.
#include "manager/store/sqlite.h"
#include "manager/store/store_reader.h"

namespace attune {

// Parses a column of JSON. A damaged one is null, and no error, so that the rest can be shown.
json json_of(const std::string& text);

inline constexpr const char* kExperimentColumns =
    "experiment, id, name, directory, status, reason, objective, maximize, seed, file, runs, "
    "manager_pid, manager_started_at, started_at, ended_at, seconds, ran";
StoredExperiment experiment_of(const SqlRow& row);

// Columns of a join of trials as t and parameters as p.
inline constexpr const char* kTrialColumns =
    "t.job_id, t.trial, t.source, t.status, t.reason, t.attempts, t.failures, t.reports, "
    "t.last_metric, t.final_metric, t.checkpoint, t.started_at, t.ended_at, p.parameter_id, "
    "p.parameters, p.text, p.resume_job, p.checkpoint_from";
TrialRecord trial_of(const SqlRow& row);

inline constexpr const char* kAttemptColumns =
    "attempt, from_checkpoint, started_at, ended_at, ending, detail, cpu_seconds, max_rss, worker, "
    "host, ran, gpus";
StoredAttempt attempt_of(const SqlRow& row);

// Columns of a join of checkpoints as c and trials as t.
inline constexpr const char* kCheckpointColumns =
    "c.checkpoint, c.attempt, c.state, c.bytes, c.error, c.saved_at, c.dropped_at, c.reports, "
    "t.job_id";
StoredCheckpoint checkpoint_of(const SqlRow& row);

inline constexpr const char* kParameterColumns =
    "parameter_index, attempt, parameter_id, parameters, text, resume_job, checkpoint_from";
StoredParameter parameter_of(const SqlRow& row);

inline constexpr const char* kReportColumns =
    "report, attempt, type, sequence, time, position, late, ignored, value, text, ran, "
    "counts";
StoredReport report_of(const SqlRow& row);

}  // namespace attune
