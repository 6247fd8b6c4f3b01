#pragma once
// One trial as the runner remembers it.
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "runner/decider.h"

namespace attune {

enum class TrialStatus { waiting, running, succeeded, failed, early_stopped, user_canceled };

struct TrialRecord {
  std::string job_id;         // "t0012"
  std::int64_t sequence = 0;  // 12
  ProposedTrial proposed;
  TrialStatus status = TrialStatus::waiting;
  std::string reason;  // why it was stopped or how it failed; empty when it succeeded
  json final_metric;   // as reported: a number, or an object with "default"; null when none
  std::vector<json> intermediate;       // as reported, in the order of arrival
  double start_time = 0, end_time = 0;  // seconds since 1970-01-01 UTC

  // The number that is searched for: the metric, or its "default". Nothing when there is none, or
  // when it is not finite.
  std::optional<double> score() const;
};

std::string_view to_text(TrialStatus status);  // "SUCCEEDED", the words of NNI

std::string job_id_of(std::int64_t sequence);

// How many trials are where.
struct Tally {
  std::int64_t started = 0, running = 0;
  std::int64_t succeeded = 0, failed = 0, early_stopped = 0, user_canceled = 0;

  std::int64_t finished() const { return succeeded + failed + early_stopped + user_canceled; }
};

}  // namespace attune
