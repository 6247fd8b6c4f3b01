#include "runner/best_trial.h"

namespace attune {

void BestTrial::offer(const TrialRecord& trial) {
  const auto score = trial.score(objective_.metric);
  if (trial.status != TrialStatus::succeeded || !score) return;
  if (best_ && (objective_.maximize ? *score <= score_ : *score >= score_)) return;
  best_ = trial;
  score_ = *score;
}

}  // namespace attune
