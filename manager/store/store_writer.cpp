#include "manager/store/store_writer.h"

#include <utility>

namespace attune {

void StoreWriter::note(Result<void> result) {
  if (failure_ && !result) failure_ = std::move(result);
}

void StoreWriter::add_trial(const TrialRecord& trial) {
  note(store_.add_trial(trial, clock_.wall()));
}

Result<Kept> StoreWriter::begin_attempt(const TrialRecord& trial,
                                        const std::string& from_checkpoint) {
  note(store_.add_attempt(trial, from_checkpoint, clock_.wall()));
  note(store_.change_trial(trial));
  return commit();
}

void StoreWriter::add_report(const TrialRecord& trial, const TrialReport& report,
                             const ReportVerdict& verdict) {
  note(store_.add_report(trial, report, verdict));
}

void StoreWriter::end_attempt(const TrialRecord& trial, const TrialFinished& end) {
  note(store_.end_attempt(trial, end));
}

void StoreWriter::add_decision(const DecisionRecord& decision) {
  note(store_.add_decision(decision, clock_.wall()));
}

void StoreWriter::set_place(const TrialRecord& trial, const TrialPlace& place, double since) {
  note(store_.set_place(trial, place, since));
}

void StoreWriter::add_parameter(const TrialRecord& trial, std::int64_t index,
                                const ProposedTrial& proposal) {
  note(store_.add_parameter(trial, index, proposal));
}

void StoreWriter::add_checkpoint(const CheckpointStored& saved) {
  note(store_.add_checkpoint(saved, clock_.wall()));
}

void StoreWriter::drop_checkpoint(const std::string& checkpoint) {
  note(store_.drop_checkpoint(checkpoint, clock_.wall()));
}

void StoreWriter::change_trial(const TrialRecord& trial) { note(store_.change_trial(trial)); }

void StoreWriter::add_event(const RunnerEvent& event) {
  note(store_.add_event(event, clock_.wall()));
}

void StoreWriter::set_postponed(const std::string& reason) { note(store_.set_reason(reason)); }

// The state of a simulation is not stored: it cannot be resumed.
void StoreWriter::set_state(const RunnerState& state) {
  if (pace_ == nullptr) store_.set_state(state);
}

Result<Kept> StoreWriter::write_out() {
  auto committed = store_.commit();
  if (!committed && store_.stalled()) return Kept{committed.error().message, ""};
  note(std::move(committed));
  if (!failure_) return std::unexpected(failure_.error());
  if (store_.was_rewritten())
    return Kept{"", "the store was deleted, moved or replaced; it was written anew in its place"};
  return Kept{};
}

Result<Kept> StoreWriter::commit() {
  if (pace_ != nullptr) {
    const double now = pace_->now();
    const bool due = now - committed_ >= kPaceSeconds;
    if (due) committed_ = now;
    if (!due && failure_) return Kept{};
  }
  note(store_.seen(clock_.wall(), clock_.now() - began_));
  return write_out();
}

void StoreWriter::end(const ExperimentEnd& outcome) {
  if (auto committed = store_.commit(); !committed) note(std::move(committed));
  end_result_ = store_.end(outcome, clock_.wall(), clock_.now() - began_);
  if (end_result_) end_result_ = failure_;
}

}  // namespace attune
