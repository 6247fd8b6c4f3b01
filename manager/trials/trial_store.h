#pragma once
// Where the trial runner writes what happens, so that a later manager can go on from it.
//
// The runner calls these functions in the order in which things happen. A write may be buffered:
// only begin_attempt() and commit() say whether everything up to them is durable. A store must not
// call the runner.
#include <cstdint>
#include <string>

#include "backends/trial_backend.h"
#include "base/result.h"
#include "manager/trials/decider.h"
#include "manager/trials/runner_events.h"
#include "manager/trials/runner_state.h"
#include "manager/trials/trial_record.h"

namespace attune {

// Whether what was said so far will be remembered.
struct Kept {
  // Empty: it will. Else why it cannot be made durable for now. The runner then does nothing that
  // needs it. Nothing is lost while this process lives, and the next commit() tries again.
  std::string trouble;
  std::string notice = {};  // for the user: what was done to keep it
};

// What becomes of a report.
struct Verdict {
  // The decider hears of it; of a final one when its attempt has ended well. Else it is only
  // remembered.
  bool counts = true;
  std::string why = {};  // it does not count, or is no score; for people
};

class TrialStore {
 public:
  virtual ~TrialStore() = default;

  virtual void add_trial(const TrialRecord& trial) = 0;
  // Before the backend starts attempt `trial.attempts - 1`. The runner starts nothing when this
  // has trouble or fails. A failure is one that cannot pass: it ends the experiment.
  virtual Result<Kept> begin_attempt(const TrialRecord& trial,
                                     const std::string& from_checkpoint) = 0;
  // Where the newest attempt runs. May be said again. `since` is in seconds since 1970-01-01 UTC,
  // and 0 where it does not matter any more.
  virtual void set_place(const TrialRecord& trial, const TrialPlace& place, double since) = 0;
  virtual void add_report(const TrialRecord& trial, const TrialReport& report,
                          const Verdict& verdict) = 0;
  // One more configuration of a running trial (multi-phase).
  virtual void add_parameter(const TrialRecord& trial, std::int64_t index,
                             const ProposedTrial& proposal) = 0;
  virtual void end_attempt(const TrialRecord& trial, const TrialFinished& end) = 0;
  // After any change of the record: status, reason, metrics.
  virtual void change_trial(const TrialRecord& trial) = 0;
  virtual void add_decision(const DecisionRecord& decision) = 0;
  virtual void add_checkpoint(const CheckpointStored& saved) = 0;
  virtual void drop_checkpoint(const std::string& checkpoint) = 0;
  virtual void add_event(const RunnerEvent& event) = 0;
  // Why the tuner proposes nothing for now. Empty: it does again.
  virtual void set_postponed(const std::string& reason) = 0;
  // Before begin_attempt() and commit(), when it has changed.
  virtual void set_state(const RunnerState& state) = 0;

  // The runner has handled all that there was: the moment to make it durable. A failure ends the
  // experiment.
  virtual Result<Kept> commit() = 0;
  virtual void end(const ExperimentEnd& outcome) = 0;  // once, last; nothing runs any more
};

}  // namespace attune
