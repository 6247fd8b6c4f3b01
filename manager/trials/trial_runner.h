#pragma once
// The experiment manager's heart: asks the decider for configurations, runs them on the backend as
// resources allow, tells the decider what happened, carries out what it decides, and ends the
// experiment. After Ray Tune's TrialRunner. The states of a trial are in trial_record.h.
//
// It has no thread, no descriptor and no timer: everything enters through its functions, so that
// tests and simulations step it. One thread makes all calls. The cost of an event does not depend
// on the number of trials that have ended.
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "backends/trial_backend.h"
#include "manager/trials/checkpoint_keeper.h"
#include "manager/trials/decider.h"
#include "manager/trials/runner_state.h"
#include "manager/trials/trial_observer.h"
#include "manager/trials/trial_store.h"
#include "manager/trials/trial_table.h"
#include "manager/trials/tuning_status.h"
#include "os/clock.h"
#include "os/log.h"

namespace attune {

struct RunnerOptions {
  int concurrency = 1;
  std::optional<std::int64_t> max_trials;   // that are started; those that run then are waited for
  std::optional<double> max_seconds;        // of the experiment; running trials are stopped then
  std::optional<double> max_trial_seconds;  // of an attempt; it is stopped early then
  std::vector<Objective> objectives = {Objective{}};  // the first one is what a trial's score is
  std::string result_place = "in a FINAL record in $NNI_SYS_DIR/.nni/metrics";  // for messages
  TrialRules trial;           // of each trial that has none of its own
  Resources capacity;         // instead of the backend's, kind by kind, where not 0
  bool queue_trials = false;  // see ResourcePool
  CheckpointRules checkpoint;
  StopRules stop;
  double start_retry_seconds = 2;  // a start that failed is tried again after so long
  double proposal_seconds = 600;   // with nothing else to do, a proposal is waited for so long
  // What happens cannot be remembered: how often it is tried again, and how long. Then the
  // experiment ends without its trials, which run on. As long is a start tried that fails.
  double memory_retry_seconds = 1, memory_patience_seconds = 600;
  // Results of all trials that have ended, for a decider that has lost its memory.
  std::function<Result<std::vector<ImportData::Record>>()> results = {};

  const Objective& objective() const { return objectives.front(); }
};

class TrialRunner final : public Decider::Listener {
 public:
  // The experiment is given up when so many trials, or as many as run at once, have failed and none
  // has ended otherwise; also when so many have succeeded without a word of the metrics that are
  // searched for, and none with them.
  static constexpr int kHopelessFailures = 5;

  TrialRunner(RunnerOptions options, Decider& decider, TrialBackend& backend, const Clock& clock,
              TrialStore& store, TrialObserver& observer, Log log);

  // What an earlier manager of the experiment left; before start().
  struct Restored {
    struct Trial {
      TrialRecord record;
      std::vector<ParameterId> ids;    // beside record.proposed.parameter_id
      std::uint64_t position = 0;      // of the last report that was kept
      std::string start_from;          // the checkpoint of the attempt that runs, or of the next
      std::optional<EndAsked> asked;   // what was decided, and perhaps not carried out
      std::vector<HeldResult> finals;  // as in LiveTrial,
      std::vector<ParameterId> told;   // and this
      TrialSteps steps;
      std::int64_t steps_saved = 0;
      bool save_first = false;  // its last attempt has ended, and what it saved was not kept yet
      AttemptTime time;
      std::vector<std::string> checkpoints;  // all that it ever had
    };
    struct Checkpoint {
      std::string job_id, id;
      double bytes = 0;
      bool ended = false;  // its trial has
    };
    std::vector<Trial> live;                // not ended, in the order of submission
    std::vector<Checkpoint> checkpoints;    // that are kept, the oldest first
    std::vector<ImportData::Record> ended;  // results, for the decider
    Tally tally;                            // of those that have ended
    std::int64_t next_sequence = 0;
    std::int64_t scored = 0;  // that succeeded with all objectives
    double seconds = 0;       // that earlier sessions took
    TuningStatus status;
    std::optional<RunnerState> state;  // nothing: of an experiment that kept none
  };
  void restore(Restored state);

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
  void on_room() override {}
  void on_warning(const std::string& text) override { warn(text); }
  void on_failure(Error error) override;
  void on_closed() override;

 private:
  enum class Phase { starting, running, stopping, closing, done };

  // trial_runner.cpp: steps, starts, and the end of the experiment
  void replenish();
  void act_on_time();
  bool start_one();
  void start_trial(LiveTrial& trial);
  void start_failed(LiveTrial& trial, const std::string& why);
  Result<Step> nothing_to_do();
  void check_over();
  void stop_experiment(ExperimentEnd outcome);
  void wind_down();
  void finish();
  bool keep();
  bool note(const Result<Kept>& kept);
  void leave_trials(const std::string& why);
  int unanswered() const;
  std::int64_t wanted() const;

  // trial_runner_events.cpp: what trials do
  bool process_event();
  void settle();
  bool fetch();
  bool is_settling(const TrialEvent& event);
  void handle_next();
  void handle_event(const TrialEvent& event);
  void handle(LiveTrial& trial, const TrialPlace& place);
  void handle(LiveTrial& trial, const TrialReport& report);
  void judge(LiveTrial& trial, const TrialReport& report, const Metrics& metrics,
             std::int64_t step);
  void hold(LiveTrial& trial, TrialReport report);
  void tell_results(LiveTrial& trial);
  void count(LiveTrial& trial, const Metrics& metrics, double time, std::optional<double> ran);
  Action tell(LiveTrial& trial, const TrialReport& report, std::int64_t step);
  std::string flaw_of(const Metrics& metrics) const;
  void handle(LiveTrial& trial, const TrialFinished& finished);
  // Where a trial that ended so starts again; nothing: it does not.
  static std::optional<std::string> retry_from(const LiveTrial& trial, FailureClass failure);
  bool try_again(LiveTrial& trial, FailureClass failure);
  bool save_and_resume(LiveTrial& trial, FailureClass failure);
  void fail_pause(const LiveTrial& trial);
  void finish_pause(LiveTrial& trial);
  void give_back(LiveTrial& trial);
  void conclude(LiveTrial& trial, TrialStatus status, std::string reason);
  void tell_decider(const TrialRecord& trial);
  void give_up_if_hopeless(const TrialRecord& last);
  std::string wanted_result() const;  // for messages: what a trial should have reported, and where
  static bool saves_after(const LiveTrial& trial, const Metrics& metrics, bool stop);
  Result<bool> meets_criterion(const TrialRules& rules, const Metrics& metrics) const;
  bool reaches_goal(double value) const;  // `stop`, of the objective

  // trial_runner_checkpoints.cpp
  std::string save(LiveTrial& trial);  // the new checkpoint's id
  bool save_later(LiveTrial& trial, const CheckpointStored& saved);
  void save_again(double now);
  void handle(const CheckpointStored& saved);
  void plan_start(LiveTrial& trial, std::string checkpoint);
  void drop(const CheckpointKeeper::Ids& checkpoints);

  // trial_runner_restore.cpp: what an earlier manager has left
  void go_on(bool known);
  LiveTrial& add_restored(Restored::Trial& old);
  void adopt(LiveTrial& trial, const Restored::Trial& old);
  void save_anew(const RunnerState& state, bool known);
  void tell_again();
  void readopt(const std::vector<Decider::Resumed>& trials);

  // trial_runner_requests.cpp: what others want of trials
  LiveTrial& add(TrialRecord record, std::shared_ptr<const TrialRules> rules);
  void resume_paused(ProposedTrial proposal);
  void decline(const ProposedTrial& proposal);
  void ask_end(LiveTrial& trial, EndAsked::Kind kind, std::string reason, const char* by);
  void carry_out_ends();
  void set_status(LiveTrial& trial, TrialStatus status, std::string reason = "");
  void update_tally();
  void tell_change(const TrialRecord& trial);
  void tell_event(const RunnerEvent& event);
  void warn(const std::string& text, const std::string& job_id = {});  // that it is about
  void notice(const std::string& text);
  void proposes_again();

  RunnerOptions options_;
  const std::shared_ptr<const TrialRules> rules_;
  Decider& decider_;
  TrialBackend& backend_;
  const Clock& clock_;
  TrialStore& store_;
  TrialObserver& observer_;
  Log log_;

  Phase phase_ = Phase::starting;
  double started_at_ = 0, earlier_seconds_ = 0;
  std::deque<int> requests_;        // proposals that each next() still lacks, oldest request first
  std::optional<double> asked_at_;  // when nothing but a proposal was left to wait for
  TrialTable table_;
  CheckpointKeeper keeper_;
  TuningStatus status_;
  Tally tally_;
  Restored restored_;
  std::deque<TrialEvent> inbox_;
  // Trials that have ended: their checkpoints under way, as in LiveTrial.
  std::map<std::string, std::map<std::string, std::int64_t>> ended_saving_;
  std::set<std::string> saving_;                // checkpoints under way
  std::set<std::string> to_answer_;             // of them, those that the decider waits for
  std::map<std::string, std::string> unsaved_;  // of saving_: those without room, and their trials
  double save_again_at_ = 0;                    // with unsaved_
  std::vector<std::string> drops_;              // checkpoints that go once it is kept that they do
  std::vector<std::string> ends_;    // trials that are stopped or paused once that is kept
  std::optional<RunnerState> told_;  // the state that the store knows
  std::int64_t next_sequence_ = 0;
  std::int64_t scored_ = 0;    // trials that succeeded with all objectives
  std::int64_t silent_ = 0;    // that succeeded since start() and lack some objective's metric
  std::string misnamed_;       // of a trial without: what it reports instead
  bool woken_ = false;         // the backend may have something
  bool exhausted_ = false;     // the last answer was "no more", and no trial has ended since
  bool postponed_ = false;     // the decider has said that it cannot answer for now
  bool begun_ = false;         // the decider knows what there is, and so do we
  bool tells_again_ = false;   // it does not any more, and nothing can be remembered
  bool decider_lost_ = false;  // for good: what it is told is lost
  bool interrupted_ = false, killed_ = false;
  bool closed_ = false;                  // the decider has ended
  bool detached_ = false;                // trials that run are left to a later manager
  int declined_ = 0;                     // proposals in a row
  std::optional<ExperimentEnd> over_;    // set: nothing more is started
  std::optional<double> stalled_since_;  // nothing can be remembered
  double retry_at_ = 0;                  // with stalled_since_
};

}  // namespace attune
