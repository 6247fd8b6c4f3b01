#pragma once
#include <map>
#include <optional>
#include <vector>

#include "base/leaders.h"
#include "manager/trials/trial_record.h"

namespace attune {

// Keeps the records of the best succeeded trial, or with several objectives of all trade-offs. See
// Leaders (base/leaders.h) for what is better.
class BestTrial {
 public:
  explicit BestTrial(std::vector<Objective> objectives) : objectives_(std::move(objectives)) {}

  void offer(const TrialRecord& trial);  // ignored if it has not succeeded, or lacks an objective
  const std::optional<BestSoFar>& get() const { return best_; }  // nothing: no trial has a result
  std::vector<TrialRecord> leaders() const;  // the best first; with one objective only that one

 private:
  std::vector<Objective> objectives_;
  Leaders leaders_;
  std::map<Leaders::Id, TrialRecord> records_;  // of the leaders
  std::optional<BestSoFar> best_;
};

}  // namespace attune
