#pragma once
// Numbers the intermediate results of a trial by the iteration (the step, counted from 0) that each
// is about. The decider compares trials step by step. So the first result after a resume must get
// the step after those in the checkpoint, which may hold iterations that were reported too late to
// count, or not at all.
#include <cstdint>
#include <optional>
#include <string_view>

#include "base/trial.h"

namespace attune {

// The metric `training_iteration`, which trials count from 1, or else the metric `fidelity`.
// Nothing when both are missing, or the number is not finite, below 1, or 2^52 and more.
std::optional<std::int64_t> iteration_of(const Metrics& metrics, std::string_view fidelity = "");

// One object for each trial. It must see every intermediate result in order, also those that do not
// count.
class TrialSteps {
 public:
  // What a trial says about its progress is believed only if it is at most so many steps away from
  // `before`. Beyond that the number counts something else, such as batches.
  static constexpr std::int64_t kFarthest = 1000;

  // An attempt begins. `before`: done() when its checkpoint was saved; nothing: from scratch.
  void begin(std::optional<std::int64_t> before);

  // The step of a result. `sequence` is the trial's own number, which most trials count from 0 in
  // each attempt. If the attempt starts from a checkpoint, its first result decides where its steps
  // begin, by the first of these that applies:
  //   1. `sequence` is not 0: the trial has kept its count, and the step is `sequence`;
  //   2. it says its iteration (iteration_of()): the step is the iteration - 1, or, for a trial
  //      that reports every nth iteration, the iteration / n - 1. Not if the results before have
  //      shown that it counts otherwise;
  //   3. else the step is `before`.
  // The third is wrong by one step for a trial that saves each iteration before it reports it, and
  // was killed in between. This cannot be detected: a trial that reports first leaves the same
  // reports and the same checkpoint.
  std::int64_t next(std::int64_t sequence, std::optional<std::int64_t> iteration);

  // told(): the decider has heard of this step. untold(): the step after the last one that it has
  // heard of. first(): the first step of this attempt. The steps from untold() to first() - 1 are
  // in the checkpoint, but were never told; the decider would wait for them (ReportDesk::tell).
  void told(std::int64_t step);
  std::int64_t untold() const { return untold_; }
  std::int64_t first() const { return offset_.value_or(before_.value_or(0)); }

  std::int64_t done() const { return done_; }  // how many steps the trial has done

 private:
  std::int64_t offset_of(std::int64_t sequence, std::optional<std::int64_t> iteration) const;

  std::optional<std::int64_t> before_;
  std::int64_t done_ = 0, untold_ = 0;
  std::optional<std::int64_t> offset_;  // step - sequence in this attempt; nothing: no result yet
  // Iterations in each step, by the newest result and by the one before; 0: it does not count
  // steps. What is not 1 is believed when two results agree.
  std::int64_t stride_ = 1, last_stride_ = 1;
};

}  // namespace attune
