#pragma once
// Callbacks for whoever logs, stores or shows an experiment. Called by the trial runner as things
// happen, in their order; an observer must not call the runner.
#include <string>

#include "backends/trial_backend.h"
#include "base/result.h"
#include "base/trial.h"
#include "runner/trial_record.h"

namespace attune {

struct Outcome {
  enum class Kind { completed, interrupted, failed };
  Kind kind = Kind::completed;
  std::string reason;  // one sentence; of a failure: what to do about it
};

struct DecisionRecord {
  std::string job_id;
  std::string action;  // "stop", "pause", "checkpoint", "retry", "resume", ...
  std::string by;      // "decider", "user", "limit", "runner"
  std::string reason;
};

class TrialObserver {
 public:
  virtual ~TrialObserver() = default;

  virtual void on_trial_added(const TrialRecord&) {}
  // Before the backend starts attempt `trial.attempts - 1`: what an observer must remember before
  // anything runs is remembered when it returns. An error ends the experiment, nothing is started.
  virtual Result<void> on_attempt(const TrialRecord&, const std::string& /*from_checkpoint*/) {
    return {};
  }
  // A report that counted, or, when report.late or `ignored`, one that did not, and why.
  virtual void on_report(const TrialRecord&, const TrialReport&, const std::string& /*ignored*/) {}
  virtual void on_attempt_end(const TrialRecord&, const TrialFinished&) {}
  virtual void on_decision(const DecisionRecord&) {}
  // One more configuration of a running trial (multi-phase).
  virtual void on_parameter(const TrialRecord&, std::int64_t /*index*/, const ProposedTrial&) {}
  virtual void on_checkpoint(const CheckpointStored&) {}
  virtual void on_checkpoint_dropped(const std::string& /*checkpoint*/) {}
  // After any change of the record: status, reason, metrics.
  virtual void on_trial_changed(const TrialRecord&) {}
  virtual void on_tally(const Tally&) {}
  // "warning", "import", "update", "interrupted", ...: what is no trial's own affair.
  virtual void on_event(const std::string& /*kind*/, const std::string& /*text*/) {}
  // The runner has handled all that there was: the moment to make it durable. An error ends the
  // experiment.
  virtual Result<void> on_idle() { return {}; }
  virtual void on_done(const Outcome&) {}  // once, last; nothing runs any more
};

}  // namespace attune
