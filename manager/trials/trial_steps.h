#pragma once
// Which iteration of a trial each of its intermediate results is about. The decider compares trials
// step by step, so a trial that goes on from a checkpoint must go on with the step that comes next
// for itself: the checkpoint may hold iterations that were reported too late to count, or never.
#include <cstdint>
#include <optional>

#include "base/trial.h"

namespace attune {

// The `training_iteration` of a result, from 1; nothing when it says none, or no number of one.
std::optional<std::int64_t> iteration_of(const Metrics& metrics);

// Is told of every intermediate result of a trial in its order, also of those that do not count.
class TrialSteps {
 public:
  // No checkpoint is so far from what is known of its trial: what a trial says beyond that counts
  // something else.
  static constexpr std::int64_t kFarthest = 1000;

  // An attempt begins; `before`: done() when its checkpoint was saved, 0 from scratch.
  void begin(std::int64_t before);

  // The step of a result that has this number (`sequence`, which trials count from 0 in each
  // attempt); the first of an attempt says how far its checkpoint was, in the order of trust:
  //   - a number that is not 0: the trial goes on with its own count;
  //   - an iteration, where a step has been one so far;
  //   - nothing: what was known when the checkpoint was saved. A trial that saves each iteration
  //     before it reports it, and is killed in between, is then taken to be one step behind.
  //     Nothing else is possible: one that reports first, and one that saves first, leave the same
  //     reports and the same save, and the next report of either is all that comes.
  std::int64_t next(std::int64_t sequence, const Metrics& metrics);

  // The decider has been told of this step. Those from untold() up to the first of an attempt it
  // will never hear of otherwise, and would wait for.
  void told(std::int64_t step);
  std::int64_t untold() const { return untold_; }
  std::int64_t first() const { return offset_.value_or(before_); }

  std::int64_t done() const { return done_; }

 private:
  std::int64_t offset_of(std::int64_t sequence, std::optional<std::int64_t> iteration) const;

  std::int64_t before_ = 0, done_ = 0, untold_ = 0;
  std::optional<std::int64_t> offset_;  // of this attempt: its steps begin there
  bool step_is_iteration_ = false;
};

}  // namespace attune
