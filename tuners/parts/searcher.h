#pragma once
// The search algorithm under a rule with rungs, such as ASHA or Hyperband: it proposes the
// configurations that the rule starts. Any tuner of the registry can be one.
//
// A tuner knows one loss for each trial; a rule has one for each level that a trial has reached. So
// the tuner learns the losses of one level: of the highest one that enough trials have reached, as
// in BOHB (Falkner, Klein, Hutter, "BOHB: Robust and Efficient Hyperparameter Optimization at
// Scale", ICML 2018, section 3.2). When that level rises, the tuner forgets everything and learns
// the losses of the new one. Trials that are only known at other levels are not proposed again
// where the space is finite; the tuner knows nothing else of them.
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "tuners/registry.h"
#include "tuners/tuner.h"

namespace attune {

// Not thread safe. The functions without a comment are those of Tuner.
class Searcher {
 public:
  // The declaration of the argument `searcher`, for the entry of a rule.
  static Argument argument(const std::string& fallback = "Random");

  // `owner`: the name of the rule, for errors. An error if there is no such tuner, if it wants
  // reports itself, or if it writes its own parameters (Batch).
  static Result<Searcher> make(const std::string& owner, const std::string& name,
                               const Context& context, const Rng& rng);

  Result<void> set_space(const Space& space);
  const Space& space() const { return space_; }
  Answer ask(TrialId id);  // a Proposal has only a point
  void withdraw(TrialId id);
  void adopt(TrialId id, const Point& point);

  // The trial has reached the level with this loss (nothing: failed there, or not finite) and with
  // these metrics, which are not negated. The trial must have been asked for or adopted. A level
  // that it had reached before is ignored.
  void observe(TrialId id, double level, std::optional<double> loss, const Metrics& metrics = {});
  // The trial is over. If it has reached no level, the tuner is told that it failed.
  void end(TrialId id);
  // A result from elsewhere at a level.
  void import(const Outcome& outcome, double level);

  const Point* point_of(TrialId id) const;  // null: unknown

  void skip_ahead() { tuner_->skip_ahead(); }
  json save() const;
  Result<void> load(const json& state);  // all or nothing

 private:
  struct Reached {
    double level = 0;
    std::optional<double> loss = {};
    Metrics metrics = {};
  };
  struct Trial {
    Point point;
    std::vector<Reached> reached = {};  // in the order of arrival
    bool ended = false;
    bool pending = false;  // the tuner takes it for running
    bool told = false;     // the tuner knows its loss at level_, or its failure
  };
  // Results from elsewhere have keys below kImportedTrial.
  using Trials = std::map<TrialId, Trial>;

  Searcher(std::unique_ptr<Tuner> tuner, bool learns) : tuner_(std::move(tuner)), learns_(learns) {}
  void record(TrialId key, Reached reached);
  void tell(TrialId key, Trial& trial, const Reached& reached);
  void withdraw(TrialId key, Trial& trial);
  std::optional<double> best_known_level() const;
  void learn_anew();

  std::unique_ptr<Tuner> tuner_;
  bool learns_;  // whether results shape its proposals
  Space space_;
  std::size_t needed_ = 1;  // results at a level before the tuner learns that level
  Trials trials_;
  std::map<double, std::size_t> usable_;  // how many trials have a loss at a level
  std::optional<double> level_;           // that the tuner learns
};

}  // namespace attune
