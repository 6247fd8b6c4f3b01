#pragma once
// The fields that a host adds to each result of a function, after Ray Tune's Trainable.train().
#include <cstdint>
#include <optional>
#include <string>

#include "base/json.h"
#include "base/result.h"

namespace attune {

// The process that computes: `pid`, `hostname`, `node_ip` (the address that other machines see, or
// 127.0.0.1).
struct ComputingPlace {
  std::int64_t pid = 0;
  std::string hostname, node_ip;

  static ComputingPlace here();
};

// The counters of one trial. Plain data; one thread at a time.
class ResultCounters {
 public:
  // Counts a result and completes it: training_iteration, timesteps_total, episodes_total, done and
  // neg_mean_loss unless the function reported them; time_this_iter_s (`seconds` unless reported),
  // time_total_s, the *_since_restore counters, date (local time), timestamp (of `wall`, seconds
  // since 1970). Totals of timesteps and episodes are null until *_this_iter was reported.
  void complete(json& result, double seconds, double wall);

  // What a checkpoint keeps: iteration, timesteps_total, episodes_total, time_total.
  json state() const;
  // Restores that state, and begins the *_since_restore counters anew. An error: a field is missing
  // or no number.
  Result<void> restore(const json& state);

  std::int64_t iteration() const { return iteration_; }

 private:
  std::int64_t iteration_ = 0, iterations_since_restore_ = 0;
  double time_total_ = 0, time_since_restore_ = 0;
  std::optional<double> timesteps_total_, episodes_total_;
  double timesteps_since_restore_ = 0;
};

}  // namespace attune
