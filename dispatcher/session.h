#pragma once
// The thread-free core of the dispatcher: one tuner, the table of live trials, the sign of the
// objective, the asks that the tuner has not answered yet, and the paused trials. TuneWorker puts
// it behind a queue; a program that embeds a study uses it directly (study/core.h). One owner at a
// time.
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "base/result.h"
#include "base/trial.h"
#include "dispatcher/earlier.h"
#include "dispatcher/stopped_trials.h"
#include "os/log.h"
#include "space/space.h"
#include "tuners/tuner.h"

namespace attune {

// What the session answers to asks, at once or later.
struct Offer {
  TrialId asked = 0;  // the id that was asked for
  TrialId trial = 0;  // the same, unless a paused trial continues or a lost one is offered again
  json parameters;    // as the trial reads them; with TRIAL_BUDGET when the tuner set a budget
  std::optional<TrialId> checkpoint_from = {};
  std::string reason = {};  // Proposal::reason
};
struct NoMore {
  TrialId asked = 0;  // the first id of the request; one NoMore a request
  std::string reason = {};
};
using Reply = std::variant<Offer, NoMore>;
using Replies = std::vector<Reply>;
void append(Replies& all, Replies more);

// What an event causes: replies, and decisions. Most decisions are the tuner's. The session adds
// its own where a trial does something else than the tuner believes.
struct Effects {
  std::vector<Decision> decisions;
  Replies replies;
};

class Session {
 public:
  // `manager_pauses`: the manager can pause trials, and let them go on from a checkpoint.
  // `stopped`: what the tuner is to assume of trials that the assessor stops.
  Session(std::unique_ptr<Tuner> tuner, Objective objective, Log log, bool manager_pauses = false,
          StoppedRule stopped = {});
  const Objective& objective() const { return objective_; }

  // As Tuner::any_parameters.
  bool any_parameters() const { return tuner_->any_parameters(); }

  // What the tuner is to learn from, in this and all later spaces. Only before the first space; a
  // session that loads a state must be given the same as the saved one. The first asks get
  // configurations that were good in the earlier experiments. A tuner that cannot learn from them
  // gets nothing, with a warning in the log.
  void set_earlier(std::vector<EarlierExperiment> earlier);

  // Sets the first space, or a new one. With a new one it tells the tuner again the results that
  // can be mapped into that space, and lets it adopt the running trials that can. Paused trials are
  // to continue, because the tuner now believes that they run; those that have no point in the new
  // space are stopped. Then it answers the waiting asks. On an error nothing changes. If only
  // defaults or priors differ, nothing is told again, and a model need not learn anew.
  Result<Effects> set_space(Space space) { return set_space(std::move(space), nullptr); }
  // `complete` gives the parameters that a trial or a result (kImportedTrial) had before those of
  // the new space, if the caller knows better than carried_point() what is missing.
  using Complete = std::function<json(TrialId, json parameters)>;
  Result<Effects> set_space(Space space, const Complete& complete);

  // What a live trial tries, in the present space. Nothing: it is not live, or does not fit.
  std::optional<json> parameters(TrialId trial) const;
  // A live trial tries other parameters than those that were proposed. Its end is told with these.
  // An error if it is not live, or if they are no point of the space.
  Result<void> correct(TrialId trial, const json& parameters);

  // The first ask in a new space gets its first_point(), unless that is or was tried already.
  //
  // Asks for `count` configurations, with the ids first, first + 1, ... Returns the answers that
  // the tuner has now; later calls return the others (before the first space: all). A large request
  // may come in pieces, one after the other, all with the `request` of the first piece: the whole
  // request gets one NoMore at most.
  //
  // A proposal that breaks a constraint of the space is withdrawn, and the tuner is asked again:
  // 1,000 times at most, or in a finite space as often as it has points, if these are more, but
  // 100,000 times at most. Then the ask waits, like one that the tuner has no answer to yet.
  Replies request(TrialId first, std::int64_t count) { return request(first, count, first); }
  Replies request(TrialId first, std::int64_t count, TrialId request);

  // As request(id, 1), for a job that runs already: it is never given a paused trial, nor one that
  // is offered again.
  Replies request_for_job(TrialId id);

  // The final result of a trial. Only the first one counts: later ones, and those of unknown or
  // ended trials, are logged and ignored. It may come after a good end, see trial_end(). A value
  // that is not usable (not a number, not finite) is told to the tuner as diverged.
  Replies final_result(TrialId trial, const json& value);

  // One intermediate result, for tuners that want reports.
  Effects report(const Report& report);
  // What was reported last for a live trial, as final_result() takes it; null: nothing.
  json last_report(TrialId trial) const;

  // The manager has paused the trial. When it continues depends on who decided that: the tuner says
  // when; after a decision of the assessor, when the tuner has nothing new for an ask; and if
  // nobody `decided` it, with the next request.
  Effects paused(TrialId trial, bool decided = false);
  // The manager could not pause the trial, which runs on.
  Replies pause_failed(TrialId trial);

  // The manager has saved a checkpoint of the trial, for which a decision asked, or could not.
  void checkpoint_answered(TrialId trial, bool saved) { tuner_->on_checkpoint(trial, saved); }

  // The trial is over. If it had no final result, the tuner is told of an end without a loss. For a
  // trial that completed this waits until the second request after the end, or until the tuner
  // waits and no other trial runs, because a manager may send the result after the end. A result
  // that comes still later is told, too: the tuner adopts the trial again for it.
  Replies trial_end(TrialId trial, End end);

  // The assessor has stopped the trial, whose end will follow. Unless a result comes before it, the
  // tuner is told what StandIns makes of these.
  void stopped_early(TrialId trial, const Metrics& last, const Metrics& expected);

  // The manager has canceled a proposal unheard. Perhaps it wants no new ones, because it has the
  // number of trials that it may have. So the trials that the assessor has paused by now continue
  // with the next requests.
  void declined();

  // Results from elsewhere. A record that does not fit the space or has no usable value is left out
  // and logged with its index; the others count. Known results are left out, too: that of a trial
  // whose result the tuner was told, and, for a record without a job, an equal configuration with
  // an equal value. The result of a live trial counts as its final result.
  struct Imported {
    json parameters;
    json value;
    std::optional<TrialId> trial = {};  // when the manager names a job that we know
    bool has_job = false;               // the manager names a job
    std::size_t index = 0;              // in the manager's list, for messages
  };
  Replies import(const std::vector<Imported>& records);

  // Takes a trial that runs without having been proposed here, or that runs again or is still
  // paused after restart(). An error if it has a result, runs already, or does not fit the space.
  Result<Effects> adopt(TrialId trial, const json& parameters, bool is_paused = false);

  // Undoes the end of a trial that was ended by mistake and has no result: it runs on. Does nothing
  // for any other trial.
  void revive(TrialId trial);

  // What was proposed after the state was saved is lost, and may run. The tuner is to make other
  // proposals.
  void skip_ahead();

  // As the functions of Tuner.
  std::string take_notes() { return tuner_->take_notes(); }
  void replay_notes(const std::string& notes) { tuner_->replay_notes(notes); }
  void end_replay() { tuner_->end_replay(); }

  // save() returns everything that shapes later answers: a session that loads it answers every call
  // as the saved one would have. load() must come before any other call, with the space that the
  // saved session had, if any. After an error the session cannot be used any further.
  json save() const;
  Result<void> load(std::optional<Space> space, const json& state);

  // The manager has started anew. The waiting asks are forgotten: the manager asks again. Live
  // trials are in doubt until they are imported, adopted, or report. Those in doubt at the next
  // request are offered again, before anything new and under the ids that are asked for; those that
  // have a result, or no point in the present space, are dropped. Paused trials are in doubt only
  // if the manager pauses trials, and so knows which of them are left: then they are told as
  // failed.
  void restart(bool manager_pauses);

 private:
  enum class State { running, pausing, paused };
  struct Trial {
    std::optional<Point> point = {};  // nothing: not expressible in the present space
    std::optional<double> budget = {};
    std::optional<TrialId> checkpoint_from = {};  // the trial from whose checkpoint it started
    bool told = false;
    bool in_doubt = false;  // was live at a restart, and nothing was heard of it since
    State state = State::running;
    std::uint64_t turn = 0;  // in set_aside_; 0: not there
    Metrics reported = {};   // by its last report
    Metrics assumed = {};    // if it is stopped without a result; empty: nothing
  };
  struct Ask {
    TrialId id;
    TrialId request;  // first id of the whole request
    bool for_job = false;
  };
  // A paused trial that is to continue. With an ask, it is still being paused, and then answers
  // that ask. Without one it waits for a request.
  struct Held {
    TrialId trial;
    Proposal proposal;
    std::optional<Ask> ask;
  };
  using Trials = std::map<TrialId, Trial>;  // ordered, for the order of re-adoption

  Replies answer(std::vector<Ask> asks);
  std::string draw(std::vector<Ask> asks, std::vector<Ask>& waiting, Replies& replies);
  bool idle() const { return untold_ == paused_ + finished_.size(); }  // no trial runs
  Replies answer_pending();
  std::vector<Ask> ask_tuner(const std::vector<Ask>& asks, std::vector<Ask>& waiting,
                             Replies& replies);
  bool carry_out(const Ask& ask, Proposal proposal, Replies& replies);
  bool carry_out_resume(const Ask& ask, Proposal proposal, Replies& replies);
  std::vector<Ask> resume_held(std::vector<Ask> asks, Replies& replies);
  void learn_from_earlier();
  std::vector<Ask> give_starts(const std::vector<Ask>& asks, Replies& replies);
  bool resume_set_aside(const Ask& ask, Replies& replies);
  void set_aside(TrialId id, Trial& trial);
  void take_back(Trial& trial);
  Offer offer(const Ask& ask, TrialId id, const Proposal& proposal);
  Offer offer_of(const Ask& ask, TrialId id, const Proposal& proposal) const;
  void drop_unfit();
  std::vector<Ask> offer_again(std::vector<Ask> asks, Replies& replies);
  std::vector<Ask> offer_first(std::vector<Ask> asks, Replies& replies);
  bool is_tried(const Point& point) const;
  void hold(TrialId id, const Trial& trial);
  void release_held(TrialId id);
  Proposal unchanged(const Trial& trial) const;
  void set_state(Trial& trial, State state);
  std::size_t most_draws() const;
  std::vector<Decision> move_paused();
  Replies conclude(Trial& trial, Outcome outcome);
  Replies tell_finished(std::uint64_t until);
  void index_history();
  Replies settle_doubts();
  void forget(Trials::iterator trial);
  Trial* live(TrialId trial);
  std::optional<double> loss_of(const Metrics& metrics) const;
  void announce_no_more(const Ask& ask, const std::string& reason, Replies& replies);
  json save_trials() const;
  Result<void> load_trials(const json& state);
  Result<void> load_finished(const json& state);
  json save_held() const;
  Result<void> load_held(const json& state);
  json save_set_aside() const;
  Result<void> load_set_aside(const json& state);
  json save_metrics_of(Metrics Trial::* what) const;
  Result<void> load_metrics_of(const json& state, const char* name, Metrics Trial::* what);
  static json save_asks(std::span<const Ask> asks);
  static Result<std::vector<Ask>> load_asks(const json& state);

  std::unique_ptr<Tuner> tuner_;
  const Objective objective_;
  const bool says_budgets_;  // to trials: TRIAL_BUDGET
  const Log log_;
  std::optional<Space> space_;
  Trials trials_;                 // not ended
  std::vector<Outcome> history_;  // what the tuner was told, for another space
  std::vector<Ask> pending_;      // answered NotYet, or asked before the first space
  std::set<TrialId> announced_;   // requests that NoMore was said for
  std::vector<Held> held_;
  // Paused by the assessor, in the order of the pauses: turn -> trial.
  std::map<std::uint64_t, TrialId> set_aside_;
  std::size_t untold_ = 0;   // trials in the table whose end the tuner has not been told
  std::size_t paused_ = 0;   // of those
  bool doubts_ = false;      // no request has come since restart()
  std::set<TrialId> again_;  // in doubt, untold and with a point: to be offered again
  std::uint64_t requests_ = 0;
  // Completed without a result, which may still come: trial -> requests_ at its end.
  std::map<TrialId, std::uint64_t> finished_;
  std::set<TrialId> resultless_;  // in history_: told as completed without a result
  std::vector<EarlierExperiment> earlier_;
  std::vector<Point> starts_;  // that the tuner wants tried first; of these
  std::size_t started_ = 0;    // so many were proposed
  StandIns stand_ins_;         // knows the results in history_
  bool first_due_ = false;     // the next ask gets first_point() of the space
};

}  // namespace attune
