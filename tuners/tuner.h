#pragma once
// The interface of everything that proposes configurations: search algorithms, and rules such as
// Hyperband that also decide on reports.
//
// Threads: one thread at a time calls a tuner. Determinism: the same seed and the same calls give
// the same answers; no clock, no entropy, no iteration over unordered containers. Everything is
// minimised: `loss` is the first objective, which the dispatcher negates if it is maximised. A
// tuner knows spaces and numbers; it never sees commands or files, and gives ids no meaning.
#include <cmath>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "base/json.h"
#include "base/result.h"
#include "base/trial.h"
#include "space/space.h"

namespace attune {

// One configuration to try. `resume` names a trial that this tuner has decided to pause; the
// dispatcher holds the proposal until that trial is paused. It drops the proposal and asks for the
// id again if the trial has ended meanwhile (tell() reports that) or runs on because it could not
// be paused. Under a manager that can neither pause nor checkpoint, the trial begins again with the
// same configuration and the new budget.
struct Proposal {
  Point point;
  std::optional<double> budget = {};   // the resource a trial may use, if the rule sets one
  std::optional<TrialId> resume = {};  // continue this paused trial; the asked id goes unused
  std::optional<TrialId> checkpoint_from = {};  // start from that trial's checkpoint
  std::string reason = {};  // for a human: why a trial goes on, or what it starts from
};
struct Exhausted {};  // no more, ever
struct NotYet {};     // ask again after something happened (a tell, a decision, a trial end)
using Answer = std::variant<Proposal, Exhausted, NotYet>;

// How a trial ended. `loss` is empty if there is no usable result: the trial failed, was stopped,
// diverged (NaN, infinity, not a number), or completed without a final metric. A trial that was
// stopped has a loss only if the experiment says what to assume of it
// (dispatcher/stopped_trials.h).
struct Outcome {
  TrialId trial = 0;
  Point point = {};
  std::optional<double> loss = {};
  Metrics metrics = {};  // not negated
  End end = End::completed;
  std::optional<double> budget = {};
  // Of an imported result: the members of its parameters that are not of the space, an object.
  // Null: none.
  json extra = {};

  // Whether the loss is a result of the trial.
  bool is_result() const {
    return (end == End::completed || end == End::imported) && loss && std::isfinite(*loss);
  }
  // Whether a model may learn from the loss: it is a result, or it is what the experiment assumes
  // of a stopped trial. Of the other trials a model knows at most that they were not good.
  bool usable() const {
    return is_result() || (end == End::stopped && loss && std::isfinite(*loss));
  }
};

// What an earlier experiment found, in the present search space.
struct EarlierTask {
  std::string name;
  // A parameter that the earlier experiment did not have is a gap, see Tuner::takes_gaps().
  std::vector<Point> points;
  // Of each point, finite; to be minimised. Only their order counts: another experiment may measure
  // something else.
  std::vector<double> losses;
};

class Tuner {
 public:
  virtual ~Tuner() = default;

  // Called before any other function, and again when the search space changes. The tuner forgets
  // everything; the dispatcher then tells and adopts again what fits into the new space. Error:
  // this tuner cannot search the space; it stays as it was.
  virtual Result<void> set_space(const Space& space) = 0;

  // The user believes something else: `space` has the points of the present one (same_points()),
  // and other defaults and priors. Nothing is forgotten; a prior counts as new. False: this tuner
  // must be told everything again, by set_space() and so on.
  virtual bool set_priors(const Space&) { return true; }

  // Whether learn_from() has an effect.
  virtual bool learns_from_earlier() const { return false; }
  // What earlier experiments found, each time right behind set_space(), and only if there are any.
  // Each task has a point. Returns the points to try first, the most promising first; the caller
  // adopts them in place of the first proposals. They are complete and feasible. The same tasks and
  // space give the same points, and the state that is saved later does not contain the tasks:
  // whoever loads it calls learn_from() before load().
  virtual std::vector<Point> learn_from(std::span<const EarlierTask>) { return {}; }

  // One answer per id, in the order of the ids. An id is new, or its last answer was NotYet, or a
  // proposal that the dispatcher did not carry out.
  virtual std::vector<Answer> ask(std::span<const TrialId> ids) = 0;

  // The user wants this point to be tried before anything else. True: it will be the next new
  // configuration that ask() proposes. False: the dispatcher answers an ask with it, and the tuner
  // adopts the trial. True only where that would not do, because the tuner gives its trials a
  // budget or parameters of its own. A call before the point was proposed replaces it.
  virtual bool begin_with(const Point&) { return false; }

  // Takes back the proposal for this id, because its point breaks a constraint of the space. No
  // such trial runs, and no outcome is told for it; the dispatcher may ask for the id again.
  virtual void withdraw(TrialId) {}

  // Reports final results, imports and dead trials, in any order. Each id that was proposed or
  // adopted has at most one outcome; imports all have the id kImportedTrial. Points lie in the
  // space.
  virtual void tell(std::span<const Outcome> outcomes) = 0;

  // Whether tell() may get results with gaps. A gap is a top-level parameter without a value,
  // because the result is older than the parameter. Such a result says nothing of this parameter,
  // nor of those in its options. A point with a gap does not count as tried, and must never be
  // proposed. All other points (of proposals, adopted trials and other results) are complete.
  virtual bool takes_gaps() const { return false; }

  // A trial runs that this tuner did not propose: a custom trial of the user, or one recovered
  // after a restart.
  virtual void adopt(TrialId, const Point&) {}

  // Whether what this tuner proposes need not be of the search space, which it reads by itself:
  // then the spaces that it is given are `unread` (space/space.h).
  virtual bool any_parameters() const { return false; }

  // Converts a point of `space` to the JSON that the trial receives, and back (for imports and
  // custom trials). `space` is that of the last set_space(), or an earlier one when results are
  // carried over. Overridden only where the output is not an object with the space's keys (Batch).
  // Errors name the path.
  virtual json parameters(const Space& space, const Point& point) const {
    return to_json(space, point);
  }
  virtual Result<Point> point_from(const Space& space, const json& parameters) const {
    return point_from_json(space, parameters);
  }

  // The members that a trial receives beside those of parameters(): an object, or null for none.
  // Asked whenever a proposal of this tuner is carried out or offered again. Their names must not
  // be names of the space, and point_from() must accept and ignore them.
  virtual json extra_parameters(TrialId) const { return nullptr; }

  // Whether this tuner wants reports, although its registry entry does not say so of all: the
  // arguments decide.
  virtual bool wants_reports() const { return false; }

  // Whether this tuner pauses or stops trials at all of their budgets. Then a manager that can
  // pause does not tell trials their budgets: they would end by themselves instead of being paused.
  virtual bool pauses_at_budget() const { return false; }

  // Called for each report of a trial, only if the tuner wants reports. A trial that
  // is paused or stopped counts as running until it ends; the dispatcher does not announce a pause.
  virtual std::vector<Decision> on_report(const Report&) { return {}; }

  // The manager has answered a decision Action::checkpoint of this tuner or of the dispatcher, only
  // if the tuner wants reports. `saved`: there is a checkpoint of the trial now. The trial may have
  // ended meanwhile.
  virtual void on_checkpoint(TrialId, bool /*saved*/) {}

  // save() returns everything that shapes later answers, the random generator included. load()
  // follows set_space() with the same space; after it, the answers are those that the saved tuner
  // would give. An error of load() leaves the tuner as it was.
  virtual json save() const = 0;
  virtual Result<void> load(const json& state) = 0;

  // Called after load() when proposals made after the save were lost: those trials may be running.
  // A tuner that draws at random must continue with other numbers, because the same ones would give
  // the same proposals again.
  virtual void skip_ahead() {}

  // ---- only for algorithms whose answers do not follow from the calls: plug-ins (plugins/)

  // What it has answered since the last call of take_notes(), as UTF-8 text for replay_notes().
  // Empty: nothing that the calls do not determine. The dispatcher writes it into the journal.
  virtual std::string take_notes() { return {}; }
  // A journal is replayed: up to end_replay(), the answers are those that `notes` has; a call of
  // which it has nothing got the answer NotYet, or no decision. `notes`: the texts of one or more
  // take_notes(), one behind the other.
  virtual void replay_notes(const std::string& /*notes*/) {}
  virtual void end_replay() {}
};

// ask() for a tuner that answers one id at a time: `one(id) -> Answer`.
template <class One>
std::vector<Answer> ask_each(std::span<const TrialId> ids, One&& one) {
  std::vector<Answer> answers;
  answers.reserve(ids.size());
  for (const TrialId id : ids) answers.push_back(one(id));
  return answers;
}

}  // namespace attune
