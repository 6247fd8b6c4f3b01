#include "manager/store/store_observer.h"

#include <utility>

namespace attune {

void StoreObserver::note(Result<void> result) {
  if (failure_ && !result) failure_ = std::move(result);
}

void StoreObserver::on_trial_added(const TrialRecord& trial) {
  note(store_.add_trial(trial, clock_.wall()));
}

Result<Kept> StoreObserver::on_attempt(const TrialRecord& trial,
                                       const std::string& from_checkpoint) {
  note(store_.add_attempt(trial, from_checkpoint, clock_.wall()));
  note(store_.change_trial(trial));
  return on_idle();
}

void StoreObserver::on_report(const TrialRecord& trial, const TrialReport& report,
                              const Verdict& verdict) {
  note(store_.add_report(trial, report, verdict));
}

void StoreObserver::on_attempt_end(const TrialRecord& trial, const TrialFinished& end) {
  note(store_.end_attempt(trial, end));
}

void StoreObserver::on_decision(const DecisionRecord& decision) {
  note(store_.add_decision(decision, clock_.wall()));
}

void StoreObserver::on_place(const TrialRecord& trial, const TrialPlace& place, double since) {
  note(store_.set_place(trial, place, since));
}

void StoreObserver::on_parameter(const TrialRecord& trial, std::int64_t index,
                                 const ProposedTrial& proposal) {
  note(store_.add_parameter(trial, index, proposal));
}

void StoreObserver::on_checkpoint(const CheckpointStored& saved) {
  note(store_.add_checkpoint(saved, clock_.wall()));
}

void StoreObserver::on_checkpoint_dropped(const std::string& checkpoint) {
  note(store_.drop_checkpoint(checkpoint, clock_.wall()));
}

void StoreObserver::on_trial_changed(const TrialRecord& trial) { note(store_.change_trial(trial)); }

void StoreObserver::on_event(const RunnerEvent& event) {
  note(store_.add_event(event, clock_.wall()));
}

void StoreObserver::on_postponed(const std::string& reason) { note(store_.set_reason(reason)); }

// A simulation has no conversation that could be taken up again.
void StoreObserver::on_state(const RunnerState& state) {
  if (pace_ == nullptr) store_.set_state(state);
}

Result<Kept> StoreObserver::commit() {
  auto committed = store_.commit();
  if (!committed && store_.stalled()) return Kept{committed.error().message, ""};
  note(std::move(committed));
  if (!failure_) return std::unexpected(failure_.error());
  if (store_.was_rewritten())
    return Kept{"", "the store was deleted, moved or replaced; it was written anew in its place"};
  return Kept{};
}

Result<Kept> StoreObserver::on_idle() {
  if (pace_ != nullptr) {
    const double now = pace_->now();
    const bool due = now - committed_ >= kPaceSeconds;
    if (due) committed_ = now;
    if (!due && failure_) return Kept{};
  }
  note(store_.seen(clock_.wall(), clock_.now() - began_));
  return commit();
}

void StoreObserver::on_done(const ExperimentEnd& outcome) {
  if (auto committed = store_.commit(); !committed) note(std::move(committed));
  end_result_ = store_.end(outcome, clock_.wall(), clock_.now() - began_);
  if (end_result_) end_result_ = failure_;
}

}  // namespace attune
