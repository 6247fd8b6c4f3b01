#pragma once
// Writes everything that the trial runner says into a Store. Durable when commit() and
// begin_attempt() return, unless they have trouble. The first failure that cannot pass is returned
// by the next of these, and by all later ones.
#include "manager/store/store.h"
#include "manager/trials/trial_store.h"
#include "os/clock.h"

namespace attune {

class StoreWriter final : public TrialStore {
 public:
  // Of an experiment that store.begin() or store.resume() has named. All outlive the writer.
  // `clock` dates what happens. With a `pace` it commits once in kPaceSeconds of that clock
  // instead: for simulations, where nothing is lost that could not be had again.
  static constexpr double kPaceSeconds = 0.2;
  StoreWriter(Store& store, const Clock& clock, const Clock* pace = nullptr)
      : store_(store), clock_(clock), pace_(pace), began_(clock.now()) {}

  void add_trial(const TrialRecord& trial) override;
  Result<Kept> begin_attempt(const TrialRecord& trial, const std::string& from_checkpoint) override;
  void add_report(const TrialRecord& trial, const TrialReport& report,
                  const Verdict& verdict) override;
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

  // After end(), which cannot return them: whether all that happened is stored; and whether it
  // is with how the experiment ended, the last thing that is written.
  const Result<void>& stored() const { return failure_; }
  const Result<void>& end_result() const { return end_result_; }

 private:
  void note(Result<void> result);
  Result<Kept> write_out();

  Store& store_;
  const Clock& clock_;
  const Clock* pace_;
  const double began_;    // on clock_
  double committed_ = 0;  // on pace_
  Result<void> failure_;
  Result<void> end_result_;
};

}  // namespace attune
