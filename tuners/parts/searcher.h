#pragma once
// The search algorithm under a rule with rungs, such as ASHA or Hyperband: it proposes the
// configurations that the rule starts. Any tuner of the registry can be one.
//
// A tuner knows one loss for each trial; a rule has one for each level that a trial has reached. So
// the tuner learns the losses of one level: of the highest one that enough trials have reached, as
// in BOHB (Falkner, Klein, Hutter, "BOHB: Robust and Efficient Hyperparameter Optimization at
// Scale", ICML 2018, section 3.2). Enough is one more than the space has dimensions. Until then it
// is the lowest level that any trial has reached. When the level changes, the tuner forgets
// everything and learns the losses of the new one.
//
// Of trials without a loss at that level:
// * One that failed at any level, or ended before its first one, has failed for the tuner.
// * Of one that is known only at other levels, the tuner knows the point and no more. In a finite
//   space it is not proposed again.
//
// Tuners that learn mainly from their own running proposals (CMA-ES, Evolution, PPO) learn less as
// the level rises: a trial leaves them when it reaches a lower level, and comes back as a foreign
// one. To let them wait for it would block them, because a paused trial may wait for their next
// proposal.
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "tuners/registry.h"
#include "tuners/tuner.h"

namespace attune {

// Not thread safe. The functions without a comment are those of Tuner. observe(), end(),
// withdraw() and put_back() ignore an id that was neither asked for nor adopted.
class Searcher {
 public:
  // The declaration of the argument `searcher`, for the entry of a rule.
  static Argument argument(const std::string& fallback = "Random");

  // `owner`: the name of the rule, for errors. An error if there is no such tuner, or if it has a
  // schedule of its own: it wants reports, or is Batch or PBT. So is a plug-in that writes
  // parameters of its own.
  static Result<Searcher> make(const std::string& owner, const std::string& name,
                               const TunerContext& context, const Rng& rng);
  // Of a tuner that is made already. `learns`: whether results shape its proposals.
  Searcher(std::unique_ptr<Tuner> tuner, bool learns, const Context& context);

  Result<void> set_space(const Space& space);
  bool set_priors(const Space& space);
  const Space& space() const { return space_; }
  Answer ask(TrialId id);  // a Proposal has only a point
  void begin_with(const Point& point) { spare_ = point; }
  void withdraw(TrialId id);
  // As withdraw(), but the point is as good as before: the next ask() gives it again, unless
  // another one is put back before.
  void put_back(TrialId id);
  // For a trial that is known already: its end, and its failures, were a mistake.
  void adopt(TrialId id, const Point& point);

  // The trial has reached the level with this loss (nothing: failed there, or not finite) and with
  // these metrics, which are not negated. A level that it had reached before is ignored.
  void observe(TrialId id, double level, std::optional<double> loss, const Metrics& metrics = {});
  // The trial is over. If it has reached no level, the tuner is told that it failed.
  void end(TrialId id);
  // A result from elsewhere at a level.
  void import(const Outcome& outcome, double level);

  const Point* point_of(TrialId id) const;  // null: unknown

  void skip_ahead() { tuner_->skip_ahead(); }
  std::string take_notes() { return tuner_->take_notes(); }
  void replay_notes(const std::string& notes) { tuner_->replay_notes(notes); }
  void end_replay() { tuner_->end_replay(); }
  json save() const;
  Result<void> load(const json& state);  // all or nothing

 private:
  struct Reached {
    double level = 0;
    std::optional<double> loss = {};
    // Of the objectives after the first, as reported; NaN: missing.
    std::vector<double> others = {};
  };
  struct Trial {
    Point point;
    std::vector<Reached> reached = {};  // in the order of arrival
    bool ended = false;
    bool told = false;     // the tuner knows its loss at level_, or its failure
    bool running = false;  // the tuner takes it for running: it has reached no level
  };
  using Trials = std::map<TrialId, Trial>;

  void start(TrialId key, Trial& trial);
  void stop(TrialId key, Trial& trial);
  void record(TrialId key, Trial& trial, Reached reached);
  void settle(TrialId key, Trial& trial);
  void tell(TrialId key, Trial& trial, const Reached& result);
  const Reached* known(const Trial& trial) const;
  std::optional<double> best_known_level() const;
  void learn_anew();

  std::unique_ptr<Tuner> tuner_;
  bool learns_;
  std::vector<std::string> others_;  // metrics of the objectives after the first
  Space space_;
  std::size_t needed_ = 1;  // results at a level before the tuner learns that level
  Trials trials_;
  TrialId next_import_;
  std::map<double, std::size_t> usable_;  // how many trials have a loss at a level
  std::optional<double> level_;           // that the tuner learns: best_known_level()
  std::optional<Point> spare_;            // that was put back, or is to be tried first
  // Remembered, because a tuner that has forgotten everything may propose points again that it took
  // back.
  bool exhausted_ = false;
};

}  // namespace attune
