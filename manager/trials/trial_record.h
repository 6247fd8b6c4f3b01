#pragma once
// One trial as the runner remembers it.
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "backends/resources.h"
#include "base/standing.h"
#include "manager/trials/decider.h"

namespace attune {

//   PENDING -> RUNNING -> SUCCEEDED | FAILED | EARLY_STOPPED (by the decider, a limit or a
//   criterion)
//      ^          |                          | USER_CANCELED (by the user, or the experiment's end)
//      +- PAUSED <+  (by the decider; goes on when it says so)
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
  ProposedTrial proposed;  // the present configuration
  TrialStatus status = TrialStatus::pending;
  // Why it waits (of a running one: for the backend to have room), was stopped, or how it failed;
  // else empty.
  std::string reason;
  int attempts = 0;          // starts so far
  int failures = 0;          // attempts that ended badly
  std::int64_t reports = 0;  // intermediate results that counted
  json last_metric;          // the newest intermediate result; null when none
  json final_metric;         // as reported: a number, or an object with "default"; null when none
  std::string checkpoint;    // the newest; empty when none
  double start_time = 0, end_time = 0;  // seconds since 1970-01-01 UTC; 0: not yet

  // The number that is searched for: the metric, or its `name`. Nothing when there is none, or
  // when it is not finite.
  std::optional<double> score(const std::string& name = "default") const;
};

// How good a final metric is; what it lacks, makes it nothing. A bare number is the first
// objective.
std::optional<Standing> standing_of(const json& final_metric,
                                    const std::vector<Objective>& objectives);
// Whether a result says nothing of one of the objectives: it is none, is no number, or lacks the
// key. A number that is not finite says something: the configuration is bad.
bool is_silent(const json& final_metric, const std::vector<Objective>& objectives);
// The names of those that it lacks: "\"loss\", \"seconds\"".
std::string missing_metrics(const json& final_metric, const std::vector<Objective>& objectives);
// "3 is neither ...": why it is never the best; empty: it may be.
std::string lack_text(const json& final_metric, const std::vector<Objective>& objectives);
// Its number of one of them, which is the first one or not, as it was reported.
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

// How many trials are where.
struct Tally {
  std::int64_t pending = 0, running = 0, paused = 0;
  std::int64_t waiting = 0;  // of the running ones: for the backend to have room
  std::int64_t succeeded = 0, failed = 0, early_stopped = 0, user_canceled = 0;

  std::int64_t finished() const { return succeeded + failed + early_stopped + user_canceled; }
  std::int64_t added() const { return pending + running + paused + finished(); }
};

}  // namespace attune
