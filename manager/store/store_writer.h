#pragma once
// The TrialStore that writes into a Store. The first failure that cannot pass is returned by the
// next commit() or begin_attempt(), and by all later ones.
#include "manager/store/store.h"
#include "manager/trials/trial_store.h"
#include "os/clock.h"

namespace attune {

class StoreWriter final : public TrialStore {
 public:
  // After store.begin() or store.resume(). The arguments outlive the writer. `clock` gives the
  // times that are written. With `pace`, commits happen at most once in kPaceSeconds of that clock.
  // This makes simulations fast, in which `clock` is virtual; what a kill loses can be simulated
  // again.
  static constexpr double kPaceSeconds = 0.2;
  StoreWriter(Store& store, const Clock& clock, const Clock* pace = nullptr)
      : store_(store), clock_(clock), pace_(pace), began_(clock.now()) {}

  void add_trial(const TrialRecord& trial) override;
  Result<Kept> begin_attempt(const TrialRecord& trial, const std::string& from_checkpoint) override;
  void add_report(const TrialRecord& trial, const TrialReport& report,
                  const ReportVerdict& verdict) override;
  void end_attempt(const TrialRecord& trial, const TrialFinished& end) override;
  void add_decision(const DecisionRecord& decision) override;
  void set_place(const TrialRecord& trial, const TrialPlace& place, double since) override;
  void add_parameter(const TrialRecord& trial, std::int64_t index,
                     const ProposedTrial& proposal) override;
  void add_checkpoint(const CheckpointStored& saved) override;
  void drop_checkpoint(const std::string& checkpoint) override;
  void change_trial(const TrialRecord& trial) override;
  void add_event(const RunnerEvent& event) override;
  void set_postponed(const std::string& reason) override;
  void set_state(const RunnerState& state) override;
  Result<Kept> commit() override;
  void end(const ExperimentEnd& outcome) override;

  // The results of end(), which cannot return them. stored(): whether everything before the end was
  // written. end_result(): whether that, and how the experiment ended, was written.
  const Result<void>& stored() const { return failure_; }
  const Result<void>& end_result() const { return end_result_; }

 private:
  void note(Result<void> result);
  Result<Kept> write_out();

  Store& store_;
  const Clock& clock_;
  const Clock* pace_;
  const double began_;    // clock_.now() when the writer was made
  double committed_ = 0;  // pace_->now() of the last commit
  Result<void> failure_;  // the first that cannot pass
  Result<void> end_result_;
};

}  // namespace attune
