#include "manager/trials/best_trial.h"

namespace attune {

void BestTrial::offer(const TrialRecord& trial) {
  if (trial.status != TrialStatus::succeeded) return;
  auto standing = standing_of(trial.final_metric, objectives_);
  if (!standing) return;
  const Leaders::Offered offered = leaders_.offer(trial.sequence, std::move(*standing));
  if (!offered.leads) return;
  for (const Leaders::Id overtaken : offered.overtaken) records_.erase(overtaken);
  records_.insert_or_assign(trial.sequence, trial);
  const TrialRecord& first = records_.at(leaders_.best_id());
  best_ = BestSoFar{first, leaders_.best().violation, leaders_.trade_offs()};
}

std::vector<TrialRecord> BestTrial::leaders() const {
  std::vector<TrialRecord> all;
  for (const Leaders::Id id : leaders_.ids()) all.push_back(records_.at(id));
  return all;
}

}  // namespace attune
