#pragma once
// The interface through which the trial runner stores everything that happens, so that a later
// manager can continue the experiment. StoreWriter (manager/store) implements it.
//
// The runner calls these functions in the order in which things happen. A write may be buffered:
// only begin_attempt() and commit() say whether everything up to them is committed. A store must
// not call the runner.
#include <cstdint>
#include <string>

#include "backends/trial_backend.h"
#include "base/result.h"
#include "manager/trials/decider.h"
#include "manager/trials/runner_events.h"
#include "manager/trials/runner_state.h"
#include "manager/trials/trial_record.h"

namespace attune {

// The result of a commit.
struct Kept {
  // Empty: everything is committed. Else why it cannot be committed for now; the runner then does
  // nothing that a later manager must know of. The store keeps the writes in memory, and the next
  // commit() tries again.
  std::string trouble;
  std::string notice = {};  // for the user: what the store did, such as to replace a deleted file
};

// Whether a report counts.
struct ReportVerdict {
  // The decider hears of it; of a FINAL only if its attempt ends well. false: it is only stored.
  bool counts = true;
  std::string why = {};  // for people: why it does not count, or holds no score
};

class TrialStore {
 public:
  virtual ~TrialStore() = default;

  virtual void add_trial(const TrialRecord& trial) = 0;
  // Called before the backend starts attempt number `trial.attempts - 1`; commits, too. With
  // trouble or an error the runner does not start it. An error means a failure that cannot pass: it
  // ends the experiment.
  virtual Result<Kept> begin_attempt(const TrialRecord& trial,
                                     const std::string& from_checkpoint) = 0;
  // Where the newest attempt runs; may be called again for it. `since`: when the attempt began, in
  // seconds since 1970-01-01 UTC; 0: leave that time as it is.
  virtual void set_place(const TrialRecord& trial, const TrialPlace& place, double since) = 0;
  virtual void add_report(const TrialRecord& trial, const TrialReport& report,
                          const ReportVerdict& verdict) = 0;
  // One more configuration of a running trial (multi-phase).
  virtual void add_parameter(const TrialRecord& trial, std::int64_t index,
                             const ProposedTrial& proposal) = 0;
  virtual void end_attempt(const TrialRecord& trial, const TrialFinished& end) = 0;
  virtual void change_trial(const TrialRecord& trial) = 0;  // its status, reason or metrics changed
  virtual void add_decision(const DecisionRecord& decision) = 0;
  virtual void add_checkpoint(const CheckpointStored& saved) = 0;
  virtual void drop_checkpoint(const std::string& checkpoint) = 0;
  virtual void add_event(const RunnerEvent& event) = 0;
  // Why the tuner proposes nothing for now; empty: it proposes again.
  virtual void set_postponed(const std::string& reason) = 0;
  // Called before begin_attempt() and commit() if the state has changed.
  virtual void set_state(const RunnerState& state) = 0;

  // Commits all writes. The runner calls it when it has handled all events. An error ends the
  // experiment.
  virtual Result<Kept> commit() = 0;
  virtual void end(const ExperimentEnd& outcome) = 0;  // once, the last call
};

}  // namespace attune
