#pragma once
// The seam for everything that proposes configurations: search algorithms, and Hyperband-like ones
// that also decide on reports.
//
// Thread rules: touched by one thread at a time. Determinism: the same seed and the same calls give
// the same answers; no clock, no entropy, no iteration over unordered containers. Everything
// minimises: `loss` is the first objective, negated by the dispatcher when it is maximised. A tuner
// knows spaces and numbers; never commands, files, or what an id means.
#include <cmath>
#include <memory>
#include <optional>
#include <span>
#include <variant>
#include <vector>

#include "base/json.h"
#include "base/result.h"
#include "base/trial.h"
#include "space/space.h"

namespace attune {

// `resume` names a trial that this tuner has decided to pause; it waits until the trial is paused.
// If that cannot be carried out because the trial has ended meanwhile (which is told), or runs on
// because it could not be paused, the id is asked for again. Under a manager that can neither pause
// nor checkpoint, the trial begins again with the same configuration and the new budget.
struct Proposal {
  Point point;
  std::optional<double> budget = {};   // the resource a trial may use, if the rule sets one
  std::optional<TrialId> resume = {};  // continue this paused trial; the asked id goes unused
  std::optional<TrialId> checkpoint_from = {};  // start from that trial's checkpoint
};
struct Exhausted {};  // no more, ever
struct NotYet {};     // ask again after something happened (a tell, a decision, a trial end)
using Answer = std::variant<Proposal, Exhausted, NotYet>;

// How a trial ended. loss is empty when there is no usable result: failed, stopped, diverged (NaN,
// infinity, not a number), or completed without a final metric.
struct Outcome {
  TrialId trial = 0;
  Point point = {};
  std::optional<double> loss = {};
  Metrics metrics = {};  // not negated
  End end = End::completed;
  std::optional<double> budget = {};

  // Whether a model may learn the loss. Of others it is known at most that they are not good.
  bool usable() const {
    return (end == End::completed || end == End::imported) && loss && std::isfinite(*loss);
  }
};

class Tuner {
 public:
  virtual ~Tuner() = default;

  // Forgets everything; the dispatcher re-tells and re-adopts what maps into the new space. On an
  // error (a space that this tuner cannot search) the tuner is as before. Called before any other.
  virtual Result<void> set_space(const Space& space) = 0;

  // One answer per id, in order. Ids are new, or were answered NotYet before, or with a proposal
  // that was not carried out.
  virtual std::vector<Answer> ask(std::span<const TrialId> ids) = 0;

  // What was proposed for this id breaks a constraint of the space: no such trial runs, nothing is
  // told of it, and the id is asked for again.
  virtual void withdraw(TrialId) {}

  // Finals, imports, dead trials, in any order; at most one outcome per id that was proposed or
  // adopted, except imports, which all carry kImportedTrial. Points lie in the space.
  virtual void tell(std::span<const Outcome> outcomes) = 0;

  // Whether results may have gaps: parameters at the top without a value, as in a result that is
  // older than they are. They, and what is in their options, say nothing of such parameters; a
  // point with a gap is no point that was tried, and is never proposed. All other points are whole.
  virtual bool takes_gaps() const { return false; }

  // Runs, but was not proposed here: customized, or recovered after a restart.
  virtual void adopt(TrialId, const Point&) {}

  // What a trial is given for a point of `space`, and the inverse, for imports and custom trials.
  // `space` is that of set_space, or a former one (results are carried over). Overridden only where
  // the output is not an object with the space's keys (Batch). Errors name the path.
  virtual json parameters(const Space& space, const Point& point) const {
    return to_json(space, point);
  }
  virtual Result<Point> point_from(const Space& space, const json& parameters) const {
    return point_from_json(space, parameters);
  }

  // Only called if the registry entry says wants_reports. A trial that is paused or stopped counts
  // as running until it ends; a pause is not announced.
  virtual std::vector<Decision> on_report(const Report&) { return {}; }

  // Everything that shapes later answers, generator included. load is all or nothing, after
  // set_space with the same space; afterwards the answers are those that the saved tuner would
  // give.
  virtual json save() const = 0;
  virtual Result<void> load(const json& state) = 0;

  // What was proposed after the loaded state was saved is lost, and may be running: whoever draws
  // at random goes on with other numbers, as the same ones would give the same proposals again.
  virtual void skip_ahead() {}
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
