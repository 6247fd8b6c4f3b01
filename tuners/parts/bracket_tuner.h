#pragma once
// The base class of tuners that spend a resource in brackets: Hyperband and its kin. It holds what
// they have in common: the search algorithm that proposes configurations, the decisions that wait
// to be announced, and the trials that stand in no bracket.
//
// Such a trial was started by the user, or before the search space changed. It runs as it likes,
// but not beyond the largest resource. The search algorithm learns its result at the level of its
// budget; without a budget, at the highest level.
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "rungs/reason_text.h"
#include "tuners/parts/searcher.h"
#include "tuners/tuner.h"

namespace attune {

class BracketTuner : public Tuner {
 public:
  struct Setup {
    Searcher searcher;
    Objective objective;
    std::string resource_attr;  // the metric that says how much of the resource a trial has used
    double max_t = 1;           // the largest resource
    std::optional<int> max_trials = {};  // of the experiment
    bool pauses = false;                 // the manager can pause trials
  };

  Result<void> set_space(const Space& space) final;
  bool set_priors(const Space& space) final { return searcher().set_priors(space); }
  std::vector<Answer> ask(std::span<const TrialId> ids) final {
    return ask_each(ids, [this](TrialId id) { return next(id); });
  }
  bool begin_with(const Point& point) final {
    searcher().begin_with(point);
    return true;
  }
  void withdraw(TrialId id) final;
  void tell(std::span<const Outcome> outcomes) final;
  void adopt(TrialId id, const Point& point) final;
  std::vector<Decision> on_report(const Report& report) final;
  void skip_ahead() override { searcher().skip_ahead(); }
  std::string take_notes() final { return searcher().take_notes(); }
  void replay_notes(const std::string& notes) final { searcher().replay_notes(notes); }
  void end_replay() final { searcher().end_replay(); }
  json save() const final;
  Result<void> load(const json& state) final;

 protected:
  explicit BracketTuner(Setup setup) : setup_(std::move(setup)) {}

  // How the rule of the derived class takes part in what happens. The trial of report(), ended()
  // and withdrawn() is one that it knows.
  virtual Answer next(TrialId id) = 0;
  virtual bool knows(TrialId id) const = 0;
  // The loss is NaN if the value is not finite. Reports without the metric are left out.
  virtual void report(const Report& report, double resource, double loss) = 0;
  virtual void ended(const Outcome& outcome) = 0;
  virtual void withdrawn(TrialId id) = 0;
  virtual void forget() = 0;             // all; the space may be another one
  virtual void noticed(const Point&) {}  // somebody else tries or has tried this point
  virtual json save_rule() const = 0;
  // What load() has read. Nothing has changed until `commit` puts it in place. `origins`: the
  // trials that the search algorithm must know.
  struct Loaded {
    std::function<void()> commit;
    std::vector<TrialId> origins;
  };
  virtual Result<Loaded> load_rule(const json& rule) = 0;

  Searcher& searcher() { return setup_.searcher; }
  const Searcher& searcher() const { return setup_.searcher; }
  const std::string& resource_attr() const { return setup_.resource_attr; }
  double max_t() const { return setup_.max_t; }
  const Setup& setup() const { return setup_; }
  // The value as the user sees it.
  double shown(double loss) const { return setup_.objective.maximize ? -loss : loss; }
  std::string result(double loss) const { return result_text(setup_.objective, loss); }
  const std::string& metric() const { return setup_.objective.metric; }

  // Announced with the present report, or else with the next one of any trial.
  void decide(Decision decision) { decisions_.push_back(std::move(decision)); }

 private:
  double level_of(const Outcome& outcome) const;

  Setup setup_;
  std::set<TrialId> foreign_;  // they run, and stand in no bracket
  std::vector<Decision> decisions_;
};

}  // namespace attune
