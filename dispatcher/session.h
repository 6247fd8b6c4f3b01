#pragma once
// The thread-free core of the dispatcher: one tuner, the table of live trials, the sign of the
// objective, the asks that the tuner could not answer yet, and the trials that are paused. The tune
// worker wraps it with a queue; an embedding program may use it as it is. One owner at a time.
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
#include "os/log.h"
#include "space/space.h"
#include "tuners/tuner.h"

namespace attune {

// What the session answers to asks, at once or later.
struct Offer {
  TrialId asked = 0;  // the id that was asked for
  TrialId trial = 0;  // the same, unless a paused trial goes on, or one is offered again
  json parameters;    // as the trial reads them; with TRIAL_BUDGET when the tuner set a budget
  std::optional<TrialId> checkpoint_from = {};
};
struct NoMore {
  TrialId asked = 0;  // the first id of the request; one NoMore a request
  std::string reason = {};
};
using Reply = std::variant<Offer, NoMore>;
using Replies = std::vector<Reply>;
void append(Replies& all, Replies more);

// What follows from an event, besides answers: decisions of the tuner, and of the session where
// what a trial does is no longer what the tuner takes it to do.
struct Effects {
  std::vector<Decision> decisions;
  Replies replies;
};

class Session {
 public:
  Session(std::unique_ptr<Tuner> tuner, Objective objective, Log log);
  const Objective& objective() const { return objective_; }

  // The first space, or another one later: finished trials are told again and running ones adopted
  // as far as they map into it; those that are paused go on, as the tuner takes them to run. On an
  // error everything is as before. Asks that wait are answered.
  Result<Effects> set_space(Space space);

  // Asks for `count` configurations with the ids first, first + 1, ... Answers that the tuner does
  // not have yet come with a later call, as do all before the first space. A large request may come
  // in pieces, one after the other, all with the `request` of the first: it gets one NoMore.
  //
  // A proposal that breaks a constraint of the space is withdrawn, and the tuner is asked again: at
  // most 1,000 times for an id, in a finite space up to as often as it has points, at most 100,000.
  // Then the ask waits like one that the tuner has no answer to yet.
  Replies request(TrialId first, std::int64_t count) { return request(first, count, first); }
  Replies request(TrialId first, std::int64_t count, TrialId request);

  // As request(id, 1), for a job that runs: a paused trial is not what it is given.
  Replies request_for_job(TrialId id);

  // The final result, once a trial: later ones, and those of unknown or ended trials, are logged
  // and ignored. It may come behind a good end, see trial_end(). A value that is not usable (not a
  // number, not finite) is told as diverged.
  Replies final_result(TrialId trial, const json& value);

  // One intermediate result, for tuners that want reports.
  Effects report(const Report& report);

  // The trial has been paused. If the tuner did not decide so, it is to go on with the next
  // request.
  Effects paused(TrialId trial);
  // It could not be paused, and runs on.
  Replies pause_failed(TrialId trial);

  // The trial is over. Without a final result before it, the tuner is told so with no loss; of a
  // trial that completed with the second request after its end, or as soon as the tuner waits and
  // no other trial runs, as a manager may send the result behind the end. One that comes later
  // still is told, too: the trial is adopted for it.
  Replies trial_end(TrialId trial, End end);

  // Results from elsewhere. A record that does not fit the space or has no usable value is left out
  // and logged with its index; the others count. What is known already is left out too: the result
  // of a trial that was told, and without a job an equal configuration with an equal value. The
  // result of a live trial is taken as that trial's final one.
  struct Imported {
    json parameters;
    json value;
    std::optional<TrialId> trial = {};  // when the manager names a job that we know
    bool has_job = false;               // the manager names a job
    std::size_t index = 0;              // in the manager's list, for messages
  };
  Replies import(const std::vector<Imported>& records);

  // A trial that runs without having been proposed here, or after restart() runs again, or is
  // paused still. Not one that has a result.
  Result<Effects> adopt(TrialId trial, const json& parameters, bool is_paused = false);

  // The trial was ended without a result, and not for good: it runs on. Does nothing for any other
  // trial.
  void revive(TrialId trial);

  // What was proposed after the state was saved is lost: other proposals are to follow.
  void skip_ahead() { tuner_->skip_ahead(); }

  // Everything that shapes later answers: what is loaded answers every call as what was saved would
  // have. Load before any other call, with the space that the saved one had, if any; on an error
  // the session cannot be used any further.
  json save() const;
  Result<void> load(std::optional<Space> space, const json& state);

  // The manager has started anew. Live trials are in doubt: those that are neither imported nor
  // adopted, and report nothing until the next request, answer that one and the following before
  // anything new does, under the ids that are asked for. In doubt are paused ones only if the
  // manager pauses trials, and so knows of them: then they are told as failed. Asks that wait are
  // forgotten: the manager asks again.
  void restart(bool manager_pauses);

 private:
  enum class State { running, pausing, paused };
  struct Trial {
    std::optional<Point> point = {};  // nothing: not expressible in the present space
    std::optional<double> budget = {};
    std::optional<TrialId> checkpoint_from = {};  // that it started from, of another trial
    bool told = false;
    bool in_doubt = false;  // ran before a restart, and nothing was heard of it since
    State state = State::running;
  };
  struct Ask {
    TrialId id;
    TrialId request;  // first id of the whole request
    bool for_job = false;
  };
  // A paused trial that is to go on: waits for its pause, or, without an ask, for a request.
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
  Offer offer(const Ask& ask, TrialId id, const Proposal& proposal);
  Offer offer_of(const Ask& ask, TrialId id, const Proposal& proposal) const;
  void drop_unfit();
  std::vector<Ask> offer_again(std::vector<Ask> asks, Replies& replies);
  void hold(TrialId id, const Trial& trial);
  void release_held(TrialId id);
  void set_state(Trial& trial, State state);
  std::size_t most_draws() const;
  std::vector<Decision> move_paused();
  Replies conclude(Trial& trial, Outcome outcome);
  Replies tell_finished(std::uint64_t until);
  void find_resultless();
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
  static json save_asks(std::span<const Ask> asks);
  static Result<std::vector<Ask>> load_asks(const json& state);

  std::unique_ptr<Tuner> tuner_;
  const Objective objective_;
  const Log log_;
  std::optional<Space> space_;
  Trials trials_;                 // not ended
  std::vector<Outcome> history_;  // what the tuner was told, for another space
  std::vector<Ask> pending_;      // answered NotYet, or asked before the first space
  std::set<TrialId> announced_;   // requests that NoMore was said for
  std::vector<Held> held_;
  std::size_t untold_ = 0;   // trials in the table that the tuner waits for
  std::size_t paused_ = 0;   // of those
  bool doubts_ = false;      // trials in the table may be in doubt, and no request has come since
  std::set<TrialId> again_;  // in doubt, untold and with a point: to be offered again
  std::uint64_t requests_ = 0;
  // Completed without a result, which may still come: with requests_ at their end.
  std::map<TrialId, std::uint64_t> finished_;
  std::set<TrialId> resultless_;  // in history_: completed, and told so without a result
};

}  // namespace attune
