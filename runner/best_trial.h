#pragma once
#include <optional>
#include <string>

#include "base/trial.h"
#include "runner/trial_record.h"

namespace attune {

// The succeeded trial with the best score; the first of equals.
class BestTrial {
 public:
  explicit BestTrial(Objective objective) : objective_(std::move(objective)) {}

  void offer(const TrialRecord& trial);
  const TrialRecord* get() const { return best_ ? &*best_ : nullptr; }
  double score() const { return score_; }  // of get(), when there is one

 private:
  Objective objective_;
  std::optional<TrialRecord> best_;
  double score_ = 0;
};

}  // namespace attune
