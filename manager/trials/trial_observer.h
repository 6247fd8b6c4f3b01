#pragma once
// Callbacks for whoever logs, stores or shows an experiment. Called by the trial runner as things
// happen, in their order; an observer must not call the runner.
#include <optional>
#include <string>
#include <string_view>

#include "backends/trial_backend.h"
#include "base/result.h"
#include "base/trial.h"
#include "manager/trials/end_asked.h"
#include "manager/trials/runner_state.h"
#include "manager/trials/trial_record.h"

namespace attune {

// How an experiment ended.
struct ExperimentEnd {
  enum class Kind { completed, interrupted, failed };
  Kind kind = Kind::completed;
  std::string reason;  // one sentence; of a failure: what to do about it
};

struct DecisionRecord {
  std::string job_id;
  std::string action;  // "stop", "pause", "checkpoint", "retry", "resume", ...
  std::string by;      // "decider", "user", "limit", "runner"
  std::string reason;
  std::optional<EndAsked::Kind> ends = {};  // of "stop" and "pause": what the end will mean
};

enum class EventKind {
  warning,
  notice,       // of what went well again
  interrupted,  // the experiment was told to end
  update,       // the user has changed it
};
std::string_view to_text(EventKind kind);

struct RunnerEvent {
  EventKind kind;
  std::string text;
  std::string job_id = {};  // of the trial that it is about; empty: the experiment
};

// Whether what was said so far will be remembered.
struct Kept {
  // Empty: it will. Else why it cannot be made durable for now: nothing that needs it may be done,
  // nothing is lost while this process lives, and the next on_idle() tries again.
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

class TrialObserver {
 public:
  virtual ~TrialObserver() = default;

  virtual void on_trial_added(const TrialRecord&) {}
  // Before the backend starts attempt `trial.attempts - 1`: what an observer must remember before
  // anything runs is remembered when it returns. With trouble or an error nothing is started; an
  // error ends the experiment.
  virtual Result<Kept> on_attempt(const TrialRecord&, const std::string& /*from_checkpoint*/) {
    return Kept{};
  }
  virtual void on_report(const TrialRecord&, const TrialReport&, const Verdict&) {}
  virtual void on_attempt_end(const TrialRecord&, const TrialFinished&) {}
  virtual void on_decision(const DecisionRecord&) {}
  // Where the newest attempt runs, as soon as that is known, perhaps said again; and since when, in
  // seconds since 1970-01-01 UTC, 0 where that does not matter any more.
  virtual void on_place(const TrialRecord&, const TrialPlace&, double /*since*/) {}
  // One more configuration of a running trial (multi-phase).
  virtual void on_parameter(const TrialRecord&, std::int64_t /*index*/, const ProposedTrial&) {}
  virtual void on_checkpoint(const CheckpointStored&) {}
  virtual void on_checkpoint_dropped(const std::string& /*checkpoint*/) {}
  // After any change of the record: status, reason, metrics.
  virtual void on_trial_changed(const TrialRecord&) {}
  virtual void on_tally(const Tally&) {}
  // Before on_idle() and on_attempt(), when it has changed.
  virtual void on_state(const RunnerState&) {}
  virtual void on_event(const RunnerEvent&) {}
  // Why the tuner proposes nothing for now; empty: it does again.
  virtual void on_postponed(const std::string& /*reason*/) {}
  // The runner has handled all that there was: the moment to make it durable. An error ends the
  // experiment.
  virtual Result<Kept> on_idle() { return Kept{}; }
  virtual void on_done(const ExperimentEnd&) {}  // once, last; nothing runs any more
};

}  // namespace attune
