#pragma once
// The thread-free core of the dispatcher: one tuner, the table of live trials, the sign of the
// objective, and the asks that the tuner could not answer yet. The tune worker wraps it with a
// queue; an embedding program may use it as it is. One owner at a time.
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <variant>
#include <vector>

#include "base/log.h"
#include "base/result.h"
#include "base/trial.h"
#include "space/space.h"
#include "tuners/tuner.h"

namespace attune {

// What the session answers to asks, at once or later.
struct Offer {
  TrialId asked = 0;  // the id that was asked for
  TrialId trial = 0;  // the same, unless a paused trial is continued
  json parameters;    // as the trial reads them; with TRIAL_BUDGET when the tuner set a budget
  std::optional<TrialId> checkpoint_from;
};
struct NoMore {
  TrialId asked = 0;  // the first id of the request; one NoMore a request
};
using Reply = std::variant<Offer, NoMore>;
using Replies = std::vector<Reply>;
void append(Replies& all, Replies more);

class Session {
 public:
  Session(std::unique_ptr<Tuner> tuner, Objective objective, Log log);

  // The first space, or another one later: finished trials are told again and running ones adopted
  // as far as they map into it. On an error everything is as before. Asks that wait are answered.
  Result<Replies> set_space(Space space);

  // Asks for `count` configurations with the ids first, first + 1, ... Answers that the tuner does
  // not have yet come with a later call, as do all before the first space. A large request may come
  // in pieces, one after the other, all with the `request` of the first: it gets one NoMore.
  Replies request(TrialId first, std::int64_t count) { return request(first, count, first); }
  Replies request(TrialId first, std::int64_t count, TrialId request);

  // The final result, once a trial: later ones, and those of unknown or ended trials, are logged
  // and ignored. A value that is not usable (not a number, not finite) is told as diverged.
  Replies final_result(TrialId trial, const json& value);

  // One intermediate result, for tuners that want reports.
  struct Reported {
    std::vector<Decision> decisions;
    Replies replies;
  };
  Reported report(const Report& report);

  // The trial is over. Without a final result before it, the tuner is told so with no loss.
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

  // A trial that runs without having been proposed here, or after load() runs again. Not one that
  // has a result.
  Result<void> adopt(TrialId trial, const json& parameters);

  // The trial was ended by mistake, without a result: it runs on. Does nothing for any other trial.
  void revive(TrialId trial);

  // Everything that shapes later answers, except asks that wait: after a resume the manager asks
  // again. Null before the first space.
  json save() const;

  // What was proposed after the state was saved is lost: other proposals are to follow.
  void skip_ahead() { tuner_->skip_ahead(); }

  // In place of the first set_space, with that space. The live trials of the saved session are in
  // doubt: those that are neither imported nor adopted, and report nothing, are told as failed at
  // the next request. On an error the session cannot be used any further.
  Result<void> load(Space space, const json& state);

 private:
  struct Trial {
    std::optional<Point> point = {};  // nothing: not expressible in the present space
    std::optional<double> budget = {};
    bool told = false;
    bool in_doubt = false;  // was live in a saved session
  };
  struct Ask {
    TrialId id;
    TrialId request;  // first id of the whole request
  };

  Replies answer(std::vector<Ask> asks);
  Replies answer_pending();
  Offer accept(const Ask& ask, const Proposal& proposal);
  Replies conclude(Trial& trial, Outcome outcome);
  Replies end_doubtful();
  Trial* live(TrialId trial);
  std::optional<double> loss_of(const Metrics& metrics) const;
  void announce_no_more(const Ask& ask, Replies& replies);

  std::unique_ptr<Tuner> tuner_;
  const Objective objective_;
  const Log log_;
  std::optional<Space> space_;
  std::map<TrialId, Trial> trials_;  // not ended; ordered, for the order of re-adoption
  std::vector<Outcome> history_;     // what the tuner was told, for another space
  std::vector<Ask> pending_;         // answered NotYet, or asked before the first space
  std::set<TrialId> announced_;      // requests that NoMore was said for
  std::size_t untold_ = 0;           // trials in the table that the tuner waits for
  bool doubts_ = false;              // trials in the table may be in doubt
};

}  // namespace attune
