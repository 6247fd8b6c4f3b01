#pragma once
// The base class of rules that pause a trial at its level, and let it go on later or never.
//
// How a trial goes on depends on how it ended, because the manager and the program of the trial
// decide that:
//
//   - It is paused (or the manager has killed it for that): it goes on under its own id.
//   - It has ended by itself, as a program does that reads TRIAL_BUDGET: a new trial starts from
//   its
//     checkpoint, with the same configuration. Without checkpoints it starts from scratch.
//   - The manager could not pause it: it runs on. Nothing is to be done, it will report.
//
// What a trial has at its level is the value of its first report there. A trial that ends before
// without a report there has its final result; it has failed if there is none.
#include <map>
#include <optional>
#include <string>

#include "rungs/sync_brackets.h"
#include "rungs/trial_quota.h"
#include "tuners/parts/bracket_tuner.h"

namespace attune {

class PausingTuner : public BracketTuner {
 public:
  bool pauses_at_budget() const override { return true; }

 protected:
  explicit PausingTuner(Setup setup)
      : BracketTuner(std::move(setup)), quota_(this->setup().max_trials) {}

  // pauses: at its level the trial waits, until the rule calls go_on() or finish(). Else it is
  // complete there, and the rule hears no more of it.
  Proposal start(TrialId id, const Point& point, double level, bool pauses);
  struct Continued {
    Proposal proposal;
    TrialId trial = 0;  // that runs: the waiting one, or `id` in its stead
  };
  Continued go_on(TrialId id, TrialId waiting, double level, bool pauses);
  void finish(TrialId waiting, const std::string& reason);  // it does not go on
  // Of a rung that is full, the best go on when their turn comes. The rest does not go on.
  void judge(const SyncBrackets::Full& full);
  // When the rule has nothing to start: more may come as long as a trial runs.
  Answer nothing_now() const;
  // Whether the experiment has had its trials: then no place must wait for a new one.
  bool all_begun() const { return quota_.used_up(); }
  // The next place of SyncBrackets or EvolutionBrackets to be filled. `begins`: whether a new trial
  // may take it. If none may, the places for new trials vanish; and once nothing is left to do,
  // one may after all: perhaps the number of trials was raised.
  template <class Brackets>
  auto take_place(Brackets& brackets, bool exhausted, bool searcher_waits, bool& begins) {
    for (;;) {
      const bool fresh = begins && !searcher_waits;
      auto place = brackets.take(!exhausted && fresh, fresh);
      if (place || begins) return place;
      const auto all = brackets.vacate();
      for (const SyncBrackets::Full& full : all) judge(full);
      begins = all.empty() && running_ == 0;
      if (all.empty() && !begins) return place;
    }
  }

  // The trial has this loss at its level; NaN: it has failed, and is over.
  virtual void reached(TrialId trial, double loss) = 0;
  // For a human: what the trial, which has reached its level with this loss, waits for.
  virtual std::string waiting_text(TrialId trial, double loss) const = 0;
  // The trial has ended before it could go on: it waits again.
  virtual void again(TrialId trial) = 0;
  // A waiting trial has failed or was stopped.
  virtual void lost(TrialId trial) = 0;
  // The trial has not begun after all.
  virtual void take_back(TrialId trial) = 0;
  virtual void forget_rule() = 0;
  virtual json save_brackets() const = 0;
  // `runs`: the trials of the rule, and whether they run; the others wait.
  using Runs = std::map<TrialId, bool>;
  virtual Result<std::function<void()>> load_brackets(const json& state, const Runs& runs) = 0;

  static Runs runs_of(const SyncBrackets& brackets);
  // waiting_text() of a rule with these brackets.
  std::string waits_in(const SyncBrackets& brackets, TrialId trial, double loss) const;

 private:
  enum class State { running, waiting, over };
  struct Trial {
    TrialId origin = 0;  // under which the search algorithm knows the configuration
    double level = 0;
    State state = State::running;
    bool ended = false;  // it was told; one that is over, too, is forgotten
    bool pauses = false;
    std::optional<TrialId> from = {};  // from whose checkpoint it started
    std::string why = {};              // for a human: why it may go on; empty: nobody knows yet
  };

  bool knows(TrialId id) const final { return trials_.contains(id); }
  void report(const Report& report, double resource, double loss) final;
  void ended(const Outcome& outcome) final;
  void withdrawn(TrialId id) final;
  void forget() final;
  json save_rule() const final;
  Result<Loaded> load_rule(const json& rule) final;

  void set_state(Trial& trial, State state);
  void settle(TrialId id, double loss, const Metrics& metrics);
  void never_ran(TrialId id);

  std::map<TrialId, Trial> trials_;
  std::size_t running_ = 0;  // of them
  TrialQuota quota_;
};

}  // namespace attune
