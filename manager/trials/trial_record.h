#pragma once
// The record of one trial, as the runner keeps it and the store writes it, and how good a final
// metric is.
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "backends/resources.h"
#include "base/standing.h"
#include "manager/trials/decider.h"

namespace attune {

// pending -> running -> succeeded | failed | early_stopped | user_canceled
// running -> paused -> pending     the decider pauses the trial, and lets it go on later
// running -> pending               its start failed; it was lost with grace; or the experiment was
//                                  interrupted and can be resumed. (Other retries stay running.)
// pending, paused -> early_stopped | user_canceled     stopped while it waited
//
// early_stopped: by the decider or a limit, or still paused when the experiment completed.
// user_canceled: by the user, or by the end of the experiment.
enum class TrialStatus {
  pending,
  running,
  paused,
  succeeded,
  failed,
  early_stopped,
  user_canceled
};
bool has_ended(TrialStatus status);

enum class TrialSource { algorithm, customized, initial };

struct TrialRecord {
  std::string job_id;         // "t0012"
  std::int64_t sequence = 0;  // 12
  TrialSource source = TrialSource::algorithm;
  ProposedTrial proposed;  // the newest configuration that an attempt starts with
  TrialStatus status = TrialStatus::pending;
  // Why it waits (of a running one: for the backend to have room), was stopped, or how it failed;
  // else empty.
  std::string reason;
  int attempts = 0;          // starts so far
  int failures = 0;          // attempts that ended badly
  std::int64_t reports = 0;  // intermediate results that counted
  json last_metric;          // the newest intermediate result; null when none
  json final_metric;         // as reported: a bare number, or an object of metrics; null when none
  std::string checkpoint;    // the newest; empty when none
  double start_time = 0, end_time = 0;  // seconds since 1970-01-01 UTC; 0: not yet

  // The value of the first objective, whose name is `name`, in final_metric: the member of that
  // name, or final_metric itself if it is a bare number. Nothing when it is missing or not finite.
  std::optional<double> score(const std::string& name = "default") const;
};

// The functions below judge a final metric as a trial reported it: a JSON object with a member for
// each objective, or a bare number, which is the value of the first objective. null: there is none.

// Nothing when the value of an objective is missing or not finite.
std::optional<Standing> standing_of(const json& final_metric,
                                    const std::vector<Objective>& objectives);
// Whether the value of an objective is missing, or is neither a number nor a boolean. NaN is a
// number: such a trial reports what it should, and only its configuration is bad.
bool is_silent(const json& final_metric, const std::vector<Objective>& objectives);
// The objectives whose value is missing or not finite: "\"loss\", \"seconds\"".
std::string missing_metrics(const json& final_metric, const std::vector<Objective>& objectives);
// Why this metric can never be the best: "3 is neither ...". Empty: it can.
std::string lack_text(const json& final_metric, const std::vector<Objective>& objectives);
// The value of one metric as reported; true and false are 1 and 0. `first`: it is the first
// objective, so that a bare number counts. Nothing when it is missing or not finite.
std::optional<double> reported_value(const json& final_metric, const std::string& name, bool first);

std::string_view to_text(TrialStatus status);  // "SUCCEEDED": the words of NNI, and of the store
std::string status_word(TrialStatus status);   // "succeeded": what commands take and print
std::string_view to_text(TrialSource source);

// The best of an experiment so far.
struct BestSoFar {
  TrialRecord trial;           // succeeded, with all metrics; the best in the first objective
  double violation = 0;        // of the limits: 0 unless no trial keeps them
  std::size_t trade_offs = 0;  // as of Leaders, base/leaders.h
};

std::string job_id_of(std::int64_t sequence);

// How many trials have which status.
struct Tally {
  std::int64_t pending = 0, running = 0, paused = 0;
  std::int64_t waiting = 0;  // of the running ones: for the backend to have room
  std::int64_t succeeded = 0, failed = 0, early_stopped = 0, user_canceled = 0;

  std::int64_t finished() const { return succeeded + failed + early_stopped + user_canceled; }
  std::int64_t added() const { return pending + running + paused + finished(); }
};

}  // namespace attune
