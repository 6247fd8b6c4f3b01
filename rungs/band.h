#pragma once
// Hyperband with brackets that are filled one after the other: the schedulers HyperBandScheduler
// and HyperBandForBOHB of Ray Tune. Trials of a bracket pause at a milestone until all of them have
// reached it. Then the best n / factor go on to the next milestone, and the others are stopped.
//
// Li, Jamieson, DeSalvo, Rostamizadeh, Talwalkar, "Hyperband: A Novel Bandit-Based Approach to
// Hyperparameter Optimization" (JMLR 2018), algorithm 1; Falkner, Klein, Hutter, "BOHB: Robust and
// Efficient Hyperparameter Optimization at Scale" (ICML 2018), section 3.
//
// With `as_ray` the rule is Ray's, to the last decision. Ray judges a bracket as soon as all trials
// that it has by then are at the milestone, and it can leave trials paused for ever: if all that
// are left are past the next milestone, if the last one that is missing ends, and, until 2023, if a
// trial is past the last milestone. So without `as_ray`
//
//   - a bracket has all its places open at first, and waits until they are taken or proceed() is
//     called;
//   - a bracket is judged again at once if all its trials are past the new milestone, and whenever
//     a trial ends that all others wait for;
//   - a trial that is at the last milestone is stopped at once. (In Ray it pauses there until all
//     others have come, and then is stopped.)
#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <vector>

#include "base/json.h"
#include "base/result.h"
#include "base/trial.h"
#include "math/sorted_numbers.h"

namespace attune {

struct BandRule {
  double max_t = 81;      // a whole number, at least 1
  double factor = 3;      // at least 2
  bool stop_last = true;  // stop at the last milestone; else a trial runs on from there to its end
  // Whether the milestones are those of Ray until 2023, which add up: 1, 1 + 3, 1 + 3 + 9, ...
  bool of_2018 = false;
  bool for_bohb = false;  // HyperBandForBOHB: the largest bracket first
  bool as_ray = false;
};

// All bands: a band has one bracket of each kind. Not thread safe. Losses are minimised, and one
// that is not a number is the worst.
class Bands {
 public:
  // pending: added and never started; only with `as_ray`. waiting: paused at the milestone. ready:
  // paused, and to go on to the next milestone.
  enum class State { pending, running, waiting, ready };
  enum class Call { go_on, pause, stop };

  struct Ruling {
    TrialId trial = 0;
    Call call = Call::go_on;
    bool complete = false;  // with stop: the trial was at the last milestone
    double milestone = 0;   // where it was judged
    double loss = 0;
    std::size_t rank = 0;     // the best has 1; 0: nothing was compared
    std::size_t of = 0;       // so many were compared; with pause: so far,
    std::size_t kept = 0;     // and so many of them go on
    double cutoff = 0;        // the loss of the last of them, if there is one
    std::size_t missing = 0;  // with pause: how many have yet to reach the milestone
  };
  struct Verdict {
    Ruling reporter;
    std::vector<Ruling> others;  // to stop, or ready to go on
  };
  struct Trial {
    std::int64_t bracket = 0;
    std::int64_t order = 0;  // of arrival
    State state = State::running;
    double time = 0;
    double loss = std::numeric_limits<double>::quiet_NaN();
  };

  explicit Bands(const BandRule& rule);

  // A new trial joins the first bracket with a place, in a new band if need be.
  void add(TrialId trial);
  void withdraw(TrialId trial);  // it never ran, and gives its place back

  // A trial has used `time` of its resource. Trials that are to be stopped are forgotten, except
  // the reporter with `as_ray`.
  Verdict result(TrialId trial, double time, double loss);
  std::vector<Ruling> remove(TrialId trial);  // it is over; perhaps the others were waiting for it
  // What result() would say of a waiting trial that reports again.
  Ruling pause(TrialId trial) const;

  // The next trial to go on (or to start, if pending), of the first band that has one: of the
  // bracket that has done the smallest part of its work; for BOHB of the first bracket.
  std::optional<TrialId> choose() const;
  // There will be no more trials. Judges brackets that have an open place as if they were full, one
  // by one, until a trial is ready.
  std::vector<Ruling> proceed();
  void set_state(TrialId trial, State state);  // of a trial that is known

  const Trial* find(TrialId trial) const;
  double milestone(TrialId trial) const;
  bool at_last_milestone(TrialId trial) const;  // no milestone follows the one it runs to
  std::size_t running() const { return running_; }
  std::size_t live() const { return trials_.size(); }

  // The kind of bracket s: how many trials it begins with, and their first milestone (0: Ray leaves
  // the bracket out).
  double size(int s) const;
  double first_milestone(int s) const;
  int kinds() const { return kinds_; }

  json save() const;
  Result<void> load(const json& state);  // all or nothing

 private:
  struct Bracket {
    int halvings = 0;  // that are left
    double n = 0;      // how many trials it is for, now
    double step = 0;   // Ray's r
    double milestone = 0;
    double open = 0;                       // places that nobody has taken
    double work = 0;                       // all of it, as Ray estimates it
    double done = 0;                       // of it
    std::map<std::int64_t, TrialId> live;  // by order of arrival
    std::set<std::int64_t> startable;      // of them, pending or ready
    SortedNumbers reached;  // losses of those of them that have reached the milestone
  };
  using Brackets = std::map<std::int64_t, Bracket>;

  static double comparable(double loss);  // not a number: infinity
  int kind_of(std::int64_t number) const;
  Bracket fresh(int s) const;
  Brackets::iterator bracket_for_new();
  bool runs_on(const Bracket& bracket, const Trial& trial) const;
  bool finished(const Bracket& bracket) const;
  double part_done(const Bracket& bracket) const;
  void process(Bracket& bracket, Verdict& verdict);
  void judge(Bracket& bracket, Verdict& verdict);
  void raise_milestone(Bracket& bracket);
  void forget(TrialId trial);
  void drop_if_empty(std::int64_t number);
  Result<void> load_bracket(const json& state);

  BandRule rule_;
  int kinds_;
  std::int64_t next_ = 0;  // number of the next bracket; a band has `kinds_` numbers
  std::int64_t arrivals_ = 0;
  std::size_t running_ = 0;
  Brackets brackets_;                 // without `as_ray` only those that have a trial or a place
  std::set<std::int64_t> startable_;  // brackets with a trial to start
  std::set<std::int64_t> open_;       // brackets with an open place
  std::map<TrialId, Trial> trials_;
};

}  // namespace attune
