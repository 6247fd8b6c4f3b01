#pragma once
// How many trials an experiment may still begin (maxTrialNumber), for rules that decide otherwise
// when no new trial can come: no rung must wait for one.
//
// A rule is not told when the user raises the number. So once it has nothing else to do, it
// proposes a new trial all the same. The manager declines this one (it ends before it reports), or
// runs it: then the number was raised.
#include <cstdint>
#include <optional>
#include <set>

#include "base/json.h"
#include "base/result.h"
#include "base/trial.h"

namespace attune {

// A value.
class TrialQuota {
 public:
  // Nothing: as many as there may be.
  explicit TrialQuota(std::optional<int> most = {}) : most_(most) {}

  bool used_up() const { return most_ && begun_ >= *most_ && !raised_; }

  void begin(TrialId trial);      // it was proposed, and not as one that was paused
  void take_back(TrialId trial);  // undoes begin()
  void ran(TrialId trial);        // it has reported
  // The trial is over. Returns whether it was declined: more than `most` had begun, and it never
  // reported.
  bool end(TrialId trial, End end);

  json save() const;
  Result<void> load(const json& state);  // all or nothing

 private:
  std::optional<int> most_;
  std::int64_t begun_ = 0;
  bool raised_ = false;
  std::set<TrialId> surplus_;  // beyond `most`, and silent so far
};

}  // namespace attune
