#pragma once
// The experiment manager's heart: asks the decider for configurations, runs them on the backend as
// resources allow, tells the decider what happened, carries out what it decides, and ends the
// experiment. After Ray Tune's TrialRunner. The states of a trial are in trial_record.h.
//
// It has no thread, no descriptor and no timer: everything enters through its functions, so that
// tests and simulations step it. One thread makes all calls. The cost of an event does not depend
// on the number of trials that have ended.
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "backends/trial_backend.h"
#include "manager/trials/announcer.h"
#include "manager/trials/checkpoint_desk.h"
#include "manager/trials/decider.h"
#include "manager/trials/proposal_desk.h"
#include "manager/trials/report_desk.h"
#include "manager/trials/restored_experiment.h"
#include "manager/trials/result_watch.h"
#include "manager/trials/runner_options.h"
#include "manager/trials/store_guard.h"
#include "manager/trials/trial_table.h"
#include "os/clock.h"
#include "os/log.h"

namespace attune {

class TrialRunner final : public Decider::Listener {
 public:
  // The experiment is given up when so many trials, or as many as run at once, have failed and none
  // has ended otherwise; also when so many have succeeded without a word of the metrics that are
  // searched for, and none with them.
  static constexpr int kHopelessFailures = 5;

  TrialRunner(RunnerOptions options, Decider& decider, TrialBackend& backend, const Clock& clock,
              TrialStore& store, TrialObserver& observer, Log log);

  // What an earlier manager of the experiment has left; before start().
  void restore(RestoredExperiment state);

  void start();

  // To the store, which the caller is about to commit. pump() does it by itself.
  void tell_state();

  // The backend has something: its `wake`.
  void wake() { woken_ = true; }

  // Does everything that can be done now. To be called after every call made here or through the
  // Listener, none of which goes on by itself: so nothing re-enters.
  void pump();

  // One step: at most one start, which goes before events; else one result or end of a trial; else
  // nothing, unless nothing ever will: then an error that says why. An error too once all is over.
  enum class Step { progressed, waiting };
  Result<Step> step();
  bool is_finished() const { return over_.has_value(); }

  // When pump() must be called next if nothing happens, in Clock::now() seconds.
  std::optional<double> next_deadline() const;

  // Whether what is asked for below would be remembered, and said to the decider.
  Result<void> takes_requests() const;

  // A trial of the user's own; its job id. Any time before the end. `checkpoint` to start from.
  Result<std::string> add_trial(json parameters, TrialSource source,
                                std::optional<TrialRules> rules = {}, std::string checkpoint = "");
  // In any state. What a running trial has reported as FINAL counts, and what it still does.
  Result<void> stop_trial(const std::string& job_id, const std::string& reason);
  Result<void> import(const std::vector<ImportData::Record>& records);
  void set_concurrency(int concurrency);
  void set_max_trials(std::optional<std::int64_t> count);
  void set_max_seconds(std::optional<double> seconds);
  void set_search_space(const json& search_space) { decider_.update_search_space(search_space); }

  // An orderly end: stops all trials, then the decider. The second call kills them.
  void interrupt(const std::string& reason);

  // What trials do cannot be known any more, and why: the experiment ends without them. They run
  // on, for a later manager.
  void leave(const std::string& why) { leave_trials(why); }

  bool done() const { return phase_ == Phase::done; }
  bool interrupted() const { return interrupted_; }
  bool killed() const { return killed_; }         // interrupted twice
  bool left_trials() const { return detached_; }  // that may run on
  const Tally& tally() const { return tally_; }
  const TrialTable& table() const { return table_; }
  const TuningStatus& status() const { return status_; }
  const RunnerOptions& options() const { return options_; }
  double elapsed() const { return earlier_seconds_ + clock_.now() - started_at_; }

  // Decider::Listener
  void on_ready() override;
  void on_resumed() override;
  void on_proposal(ProposedTrial proposal) override;
  void on_exhausted(const std::string& reason) override;
  void on_postponed(const std::string& reason) override;
  void on_parameter(const std::string& job_id, std::int64_t index,
                    std::optional<ProposedTrial> proposal) override;
  void on_stop(const std::string& job_id, const std::string& reason) override;
  void on_pause(const std::string& job_id, const std::string& reason) override;
  void on_save(const std::string& job_id) override;
  void on_drop(const std::string& checkpoint) override;
  void on_synced(const std::string&) override {}
  void on_warning(const std::string& text) override { announcer_.warn(text); }
  void on_failure(Error error) override;
  void on_closed() override;

 private:
  enum class Phase { starting, running, stopping, closing, done };

  // trial_runner.cpp: the loop, starts, the end of the experiment, and what is stored of it
  void replenish();
  std::int64_t wanted() const;
  void act_on_time();
  bool start_one();
  void start_trial(LiveTrial& trial);
  void start_failed(LiveTrial& trial, const std::string& why);
  Result<Step> nothing_to_do();
  void check_over();
  void stop_experiment(ExperimentEnd outcome);
  void stop_trials(bool completed);
  void wind_down();
  void finish();
  bool keep();
  bool note(const Result<Kept>& answer);
  void leave_trials(const std::string& why);

  // trial_runner_events.cpp: what trials do, and what follows from it
  bool process_event();
  void settle();
  bool fetch();
  bool is_settling(const TrialEvent& event);
  void handle_next();
  void handle(LiveTrial& trial, const TrialPlace& place);
  void handle(LiveTrial& trial, const TrialReport& report);
  void handle(LiveTrial& trial, const TrialFinished& finished);
  void handle(const CheckpointStored& saved);
  bool save_and_resume(LiveTrial& trial, FailureClass failure);
  bool try_again(LiveTrial& trial, FailureClass failure);
  void give_back(LiveTrial& trial);
  void fail_pause(const LiveTrial& trial);
  void finish_pause(LiveTrial& trial);
  void conclude(LiveTrial& trial, TrialStatus status, std::string reason);
  void count_end(const TrialRecord& trial);
  void tell_end(const TrialRecord& trial);
  void give_up_if_hopeless(const TrialRecord& last);

  // trial_runner_requests.cpp: what the decider and the user want of trials
  LiveTrial& add(TrialRecord record, std::shared_ptr<const TrialRules> rules);
  void resume_paused(ProposedTrial proposal);
  void decline(const ProposedTrial& proposal);
  void proposes_again();
  void ask_end(LiveTrial& trial, EndAsked end, const char* by);
  void carry_out_ends();
  void set_status(LiveTrial& trial, TrialStatus status, std::string reason = "");
  void update_tally();

  // trial_runner_restore.cpp: what an earlier manager has left
  void take_over(bool known);
  LiveTrial& add_restored(RestoredExperiment::Trial& old);
  void adopt(LiveTrial& trial, const RestoredExperiment::Trial& old);
  void save_anew(const RunnerState& state, bool known);
  void tell_again();
  void readopt(const std::vector<Decider::Resumed>& trials);

  RunnerOptions options_;
  const std::shared_ptr<const TrialRules> rules_;
  Decider& decider_;
  TrialBackend& backend_;
  const Clock& clock_;
  TrialStore& store_;
  TrialObserver& observer_;
  Log log_;

  Announcer announcer_;
  StoreGuard guard_;
  ProposalDesk proposals_;
  CheckpointDesk checkpoints_;
  TuningStatus status_;
  ReportDesk reports_;
  ResultWatch results_;
  TrialTable table_;
  Tally tally_;

  Phase phase_ = Phase::starting;
  double started_at_ = 0, earlier_seconds_ = 0;
  RestoredExperiment restored_;  // until the decider is ready
  std::deque<TrialEvent> inbox_;
  std::vector<std::string> ends_;      // trials to stop or to pause once that is stored
  std::optional<RunnerState> stored_;  // the state that the store knows
  std::int64_t next_sequence_ = 0;
  std::optional<ExperimentEnd> over_;  // set: nothing more is started
  bool woken_ = false;                 // the backend may have something
  bool begun_ = false;                 // the decider knows what there is, and so do we
  bool tells_again_ = false;           // it does not any more, and nothing can be stored
  bool decider_lost_ = false;          // for good: what it is told is lost
  bool closed_ = false;                // the decider has ended
  bool interrupted_ = false, killed_ = false;
  bool detached_ = false;  // trials that run are left to a later manager
};

}  // namespace attune
