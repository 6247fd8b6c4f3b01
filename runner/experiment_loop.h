#pragma once
// The trial state machine: asks the decider for configurations, runs them on the backend, tells the
// decider what happened, stops what it wants stopped, and ends the experiment.
//
//   WAITING -> RUNNING -> SUCCEEDED | FAILED | EARLY_STOPPED (by the decider or maxTrialDuration)
//                                            | USER_CANCELED (by the end of the experiment)
//
// It has no thread, no descriptor and no timer: everything enters through its functions, so that
// tests step it. One thread makes all calls.
#include <deque>
#include <map>
#include <optional>
#include <string>

#include "backends/trial_backend.h"
#include "base/clock.h"
#include "base/log.h"
#include "runner/decider.h"
#include "runner/trial_record.h"

namespace attune {

struct LoopLimits {
  int concurrency = 1;
  std::optional<std::int64_t> max_trials;
  std::optional<double> max_seconds;        // of the experiment; running trials are stopped then
  std::optional<double> max_trial_seconds;  // then a trial is stopped early
};

struct Outcome {
  enum class Kind { completed, interrupted, failed };
  Kind kind = Kind::completed;
  std::string reason;  // one sentence; of a failure: what to do about it
};

// Who wants to know. Must not call the loop.
class LoopObserver {
 public:
  virtual ~LoopObserver() = default;
  virtual void on_change(const Tally& tally) = 0;                   // after any change of it
  virtual Result<void> on_trial_end(const TrialRecord& trial) = 0;  // an error ends the experiment
  virtual void on_warning(const std::string& text) = 0;
  virtual void on_done(const Outcome& outcome) = 0;  // once, last; nothing runs any more
};

class ExperimentLoop final : public Decider::Listener {
 public:
  // The experiment is given up when so many trials, or as many as run at once, have failed and none
  // has ended otherwise.
  static constexpr int kHopelessFailures = 5;

  ExperimentLoop(LoopLimits limits, Decider& decider, TrialBackend& backend, const Clock& clock,
                 LoopObserver& observer, Log log);

  void start();

  // The backend has something: its `wake`.
  void pump();

  // When tick() must be called next, in Clock::now() seconds. May change with every call made here
  // or through the Listener.
  std::optional<double> next_deadline() const;
  void tick();

  // An orderly end: stops all trials, then the decider. The second call kills them.
  void interrupt(const std::string& reason);

  bool done() const { return phase_ == Phase::done; }

  // Decider::Listener
  void on_ready() override;
  void on_proposal(ProposedTrial proposal) override;
  void on_exhausted(const std::string& reason) override;
  void on_stop(const std::string& job_id, const std::string& reason) override;
  void on_room() override { pump(); }
  void on_failure(Error error) override;
  void on_closed() override;

 private:
  enum class Phase { starting, running, stopping, closing, done };
  struct Running {
    TrialRecord record;
    double deadline;                            // of maxTrialDuration; infinite without
    std::optional<TrialEnd::Event> stopped_as;  // the decision; reports no longer count
  };

  void advance();  // asks, starts and ends as far as the present state allows
  void ask();
  void start_waiting();
  void start_trial(ProposedTrial proposal);
  void stop_trial(Running& trial, TrialEnd::Event event, const std::string& reason);
  void handle(const TrialEvent& event);
  void handle_report(Running& trial, const TrialReport& report);
  void handle_end(Running trial, const TrialFinished& finished);
  void give_up_if_hopeless(const TrialRecord& last);
  void stop_experiment(Outcome outcome);
  void close_when_idle();
  void finish();
  void warn(const std::string& text);
  int unanswered() const;

  const LoopLimits limits_;
  Decider& decider_;
  TrialBackend& backend_;
  const Clock& clock_;
  LoopObserver& observer_;
  Log log_;

  Phase phase_ = Phase::starting;
  double started_at_ = 0;
  std::deque<int> requests_;  // proposals that each next() still lacks, oldest request first
  std::deque<ProposedTrial> waiting_;
  std::map<std::string, Running> running_;
  Tally tally_;
  std::int64_t scored_ = 0;  // trials with a usable final metric
  bool exhausted_ = false;   // the last answer was "no more", and no trial has ended since
  bool decider_lost_ = false;
  bool interrupted_ = false;
  bool advancing_ = false, advance_again_ = false;
  Outcome outcome_;
};

}  // namespace attune
