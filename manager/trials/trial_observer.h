#pragma once
// Callbacks for whoever shows an experiment to a user. The trial runner calls them as things
// happen, in their order; an observer must not call the runner.
#include "manager/trials/runner_events.h"
#include "manager/trials/trial_record.h"

namespace attune {

class TrialObserver {
 public:
  virtual ~TrialObserver() = default;

  virtual void on_attempt(const TrialRecord&) {}        // the backend is about to start it
  virtual void on_trial_changed(const TrialRecord&) {}  // its status, reason or metrics
  virtual void on_tally(const Tally&) {}
  virtual void on_event(const RunnerEvent&) {}
  virtual void on_done(const ExperimentEnd&) {}  // once, the last call
};

}  // namespace attune
