#include "rungs/trial_quota.h"

#include <utility>

#include "base/saved_numbers.h"

namespace attune {

void TrialQuota::begin(TrialId trial) {
  if (used_up()) surplus_.insert(trial);
  ++begun_;
}

void TrialQuota::take_back(TrialId trial) {
  surplus_.erase(trial);
  --begun_;
}

void TrialQuota::ran(TrialId trial) {
  if (surplus_.erase(trial) > 0) raised_ = true;
}

bool TrialQuota::end(TrialId trial, End end) {
  if (surplus_.erase(trial) == 0) return false;
  // Without reports, too, a trial that has run says that it was let to.
  if (end != End::stopped) raised_ = true;
  return end == End::stopped;
}

json TrialQuota::save() const {
  return {{"begun", begun_}, {"raised", raised_}, {"surplus", surplus_}};
}

Result<void> TrialQuota::load(const json& state) {
  TrialQuota loaded(most_);
  loaded.begun_ = TRY(integer_at(state, "begun"));
  loaded.raised_ = TRY(boolean_at(state, "raised"));
  loaded.surplus_ = TRY(trials_at(state, "surplus"));
  if (loaded.begun_ < 0) return fail("saved state: less than no trials have begun");
  *this = std::move(loaded);
  return {};
}

}  // namespace attune
