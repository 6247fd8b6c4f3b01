#pragma once
#include <map>
#include <optional>
#include <vector>

#include "base/leaders.h"
#include "manager/trials/trial_record.h"

namespace attune {

// Of the trials that have succeeded the best, and all trade-offs; as Leaders has them.
class BestTrial {
 public:
  explicit BestTrial(std::vector<Objective> objectives) : objectives_(std::move(objectives)) {}

  void offer(const TrialRecord& trial);
  const std::optional<BestSoFar>& get() const { return best_; }
  std::vector<TrialRecord> leaders() const;  // the best first; with one objective it alone

 private:
  std::vector<Objective> objectives_;
  Leaders leaders_;
  std::map<Leaders::Id, TrialRecord> records_;  // of the leaders
  std::optional<BestSoFar> best_;
};

}  // namespace attune
