#pragma once
// Runs one experiment: asks the decider for configurations, starts them on the backend as resources
// allow, tells the decider what trials report and how they end, carries out the decider's
// decisions, and ends the experiment. After Ray Tune's TrialRunner. The states of a trial are in
// trial_record.h.
//
// The runner has no thread, no descriptor and no timer: it acts only when somebody calls it, so
// that tests and simulations can step it. One thread makes all calls. The cost of an event does not
// depend on the number of trials that have ended.
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "backends/trial_backend.h"
#include "manager/trials/announcer.h"
#include "manager/trials/checkpoint_desk.h"
#include "manager/trials/decider.h"
#include "manager/trials/judged_report.h"
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
  // With N = max(kHopelessFailures, concurrency), the runner ends the experiment as failed
  //   - after N failed trials (all trials, if `max_trials` is less than N), if none ended
  //   otherwise;
  //   - after N trials that succeeded without reporting an objective (ResultWatch::silent()), if
  //     none reported all objectives.
  static constexpr int kHopelessFailures = 5;

  TrialRunner(RunnerOptions options, Decider& decider, TrialBackend& backend, const Clock& clock,
              TrialStore& store, TrialObserver& observer, Log log);

  // Continues from what an earlier manager of the experiment left. Call it before start().
  void restore(RestoredExperiment state);

  void start();

  // Hands the RunnerState to the store if it has changed. A caller that commits the store itself
  // calls this first; pump() calls it before its own commits.
  void tell_state();

  // The backend has events. The owner passes this as the backend's `wake`.
  void wake() { woken_ = true; }

  // Does everything that can be done now, and commits the store. The owner calls it after every
  // other call, also after the decider has called the Listener: those calls start no trial
  // themselves, so that nothing re-enters the runner.
  void pump();

  // pump() calls this in a loop; tests call it alone. Starts one trial if one may start, else
  // handles one result or end of a trial, else returns Step::waiting. Error: nothing can ever
  // happen any more (the message says why), or is_finished() was true already.
  enum class Step { progressed, waiting };
  Result<Step> step();
  // The experiment's end is decided: no trial starts any more. Trials may still run; see done().
  bool is_finished() const { return over_.has_value(); }

  // When pump() must be called next if nothing happens, in Clock::now() seconds.
  std::optional<double> next_deadline() const;

  // The requests of the user. Error: a request made now would not be stored, or the decider would
  // not hear of it. The functions below do not check this themselves.
  Result<void> takes_requests() const;

  // Adds a trial of the user's own; returns its job id. `rules`: nothing means those of the
  // experiment. `checkpoint`: where the trial starts from; empty: from scratch. Error: the end of
  // the experiment is decided.
  Result<std::string> add_trial(json parameters, TrialSource source,
                                std::optional<TrialRules> rules = {}, std::string checkpoint = "");
  // Stops a pending, running or paused trial. A FINAL that a running trial has reported counts;
  // so does one that it still reports before it ends. Error: the trial has ended, or never was.
  Result<void> stop_trial(const std::string& job_id, const std::string& reason);
  Result<void> import(const std::vector<ImportData::Record>& records);
  void set_concurrency(int concurrency);
  void set_max_trials(std::optional<std::int64_t> count);
  void set_max_seconds(std::optional<double> seconds);
  void set_search_space(const json& search_space) { decider_.update_search_space(search_space); }

  // The first call stops all trials, then closes the decider. The second call kills both at once.
  void interrupt(const std::string& reason);

  // Ends the experiment without stopping its running trials, because nobody can reach them any
  // more: they run on, and a later manager takes them over. `why` becomes part of the reason.
  void leave(const std::string& why) { leave_trials(why); }

  bool done() const { return phase_ == Phase::done; }  // on_done() was called
  bool interrupted() const { return interrupted_; }
  bool killed() const { return killed_; }         // interrupted twice
  bool left_trials() const { return detached_; }  // trials may run on after done()
  const Tally& tally() const { return tally_; }
  const TrialTable& table() const { return table_; }
  const TuningStatus& status() const { return status_; }
  const RunnerOptions& options() const { return options_; }
  // Seconds that this manager and the earlier ones of the experiment have run.
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
  void on_used_up(const std::string& job_id, const std::string& reason) override;
  void on_pause(const std::string& job_id, const std::string& reason) override;
  void on_save(const std::string& job_id) override;
  void on_drop(const std::string& checkpoint) override;
  void on_synced(const std::string& token) override;
  void on_warning(const std::string& text) override { announcer_.warn(text); }
  void on_failure(Error error) override;
  void on_closed() override;

 private:
  enum class Phase { starting, running, stopping, closing, done };

  // trial_runner.cpp: the loop, starts, the end of the experiment, commits to the store
  void replenish();
  std::int64_t wanted() const;
  bool all_added() const;  // no new trial may be added
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

  // trial_runner_events.cpp: the events of the backend, and what follows from them
  bool process_event();
  void settle();
  bool fetch();
  bool is_settling(const TrialEvent& event);
  void handle_next();
  void handle(LiveTrial& trial, const TrialPlace& place);
  void handle(LiveTrial& trial, const TrialReport& report);
  void handle(LiveTrial& trial, const TrialFinished& finished);
  void answer_when_judged(const LiveTrial& trial, std::int64_t reports);
  void answer(const JudgedReport& report);
  void handle(const CheckpointStored& saved);
  bool save_and_resume(LiveTrial& trial, FailureClass failure);
  bool try_again(LiveTrial& trial, FailureClass failure);
  void give_back(LiveTrial& trial);
  void fail_pause(const LiveTrial& trial);
  bool pause_without_attempt(LiveTrial& trial, FailureClass failure, bool with_files);
  void finish_pause(LiveTrial& trial, bool with_files);
  void conclude(LiveTrial& trial, TrialStatus status, std::string reason);
  void count_end(const TrialRecord& trial);
  void tell_end(const TrialRecord& trial);
  void give_up_if_hopeless(const TrialRecord& last);

  // trial_runner_requests.cpp: what the decider and the user ask for
  LiveTrial& add(TrialRecord record, std::shared_ptr<const TrialRules> rules);
  void resume_paused(ProposedTrial proposal);
  void decline(const ProposedTrial& proposal);
  void proposes_again();
  void ask_end(LiveTrial& trial, EndAsked end, const char* by);
  void carry_out_ends();
  void set_status(LiveTrial& trial, TrialStatus status, std::string reason = "");
  void update_tally();

  // trial_runner_restore.cpp: continuing from what an earlier manager left
  void take_over(bool known);
  LiveTrial& add_restored(RestoredExperiment::Trial& old);
  void adopt(LiveTrial& trial, const RestoredExperiment::Trial& old);
  void save_anew(const RunnerState& state, bool known);
  void tell_again();
  void judge_again();
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
  RestoredExperiment restored_;  // from restore() until take_over(); then empty
  std::deque<TrialEvent> inbox_;
  std::vector<std::string> ends_;      // trials to stop or to pause once their `asked` is stored
  std::optional<RunnerState> stored_;  // the state that the store was last given
  std::int64_t next_sequence_ = 0;
  std::optional<ExperimentEnd> over_;  // set: no trial starts any more
  bool woken_ = false;                 // the backend may have events
  bool begun_ = false;                 // take_over() has run
  bool tells_again_ = false;   // the decider lost its memory; tell_again() waits for the store
  bool decider_lost_ = false;  // for good: what it is told is lost
  bool closed_ = false;        // the decider has ended
  bool interrupted_ = false, killed_ = false;
  bool detached_ = false;  // running trials are left to a later manager
};

}  // namespace attune
