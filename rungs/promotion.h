#pragma once
// Asynchronous successive halving of the promotion type, as a rule without trials that run. Each
// trial runs to the next rung and waits there. When a place is free, the best waiting trial of the
// highest rung that has one good enough goes on to the rung above.
//
// Source: Li et al., "A System for Massively Parallel Hyperparameter Tuning" (MLSys 2020),
// algorithm 2. The cutoffs, the order among equals and the other two rules are Syne Tune's. For
// several objectives: Schmucker et al., "Multi-objective Asynchronous Successive Halving" (2021).
#include <compare>
#include <cstdint>
#include <deque>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <vector>

#include "base/json.h"
#include "base/result.h"
#include "base/trial.h"
#include "math/sorted_numbers.h"
#include "rungs/promotion_order.h"

namespace attune {

// How good a trial is at a rung; smaller is better. Trials that keep all limits come first, by
// their loss. The others are ordered by their violation (base/standing.h); none of them goes on
// from a rung where a trial keeps all limits.
struct RungValue {
  double violation = 0;
  double loss = 0;

  auto operator<=>(const RungValue&) const = default;  // there is no NaN in it
  // Of a trial that failed, was stopped, or diverged.
  static RungValue worst() {
    constexpr double kInfinity = std::numeric_limits<double>::infinity();
    return {kInfinity, kInfinity};
  }
};

// Of several objectives a trial has one number each, and no loss. The loss is then its place,
// counted from 0, in the order of all trials at its rung: by the front of the non-dominated
// sorting, then the less crowded first, then the earlier (math/pareto.h, crowded_order()). Each new
// result changes the order of the others. So a rung compares its newest kCompared trials that keep
// all limits; older ones do not go on any more. With two objectives the order of 10^5 takes
// 29 ms, that of 1,000 0.3 ms (measured, -O3).
//
// Not thread safe. Each call costs O(log n) for n trials, and promote() that for each rung. With
// several objectives enter() orders at most kCompared trials anew.
class PromotionRungs {
 public:
  static constexpr std::size_t kCompared = 1000;

  // What makes the best waiting trial of a rung good enough. The share of a rung is its level
  // divided by that of the rung above.
  enum class Rule {
    // It is not worse than the quantile `share` of all values at the rung (syne_cutoff).
    quantile,
    // All trials up to it have used at most `share` of the whole cost at the rung.
    cost,
    // As quantile, but nor may it be worse than the best candidate at this rung (RUSH: Zappella,
    // Salinas, Archambeau, "A resource-efficient method for repeated HPO and NAS", 2021).
    rush
  };
  struct Options {
    Rule rule = Rule::quantile;
    std::vector<std::int64_t> levels = {};  // ascending, below max_t; may be empty
    std::int64_t max_t = 100;
    bool maximise = false;       // the losses are negated values of a metric that is maximised
    std::size_t objectives = 1;  // more than one: only with Rule::quantile, and not `maximise`
  };
  struct Arrival {
    RungValue value = {};
    double cost = 0;                  // used to get here; not negative. For Rule::cost
    bool candidate = false;           // its value is a threshold for others. For Rule::rush
    bool waits = true;                // whether it can be promoted
    std::vector<double> values = {};  // of several objectives: each minimised and finite
  };
  // A trial at a rung.
  struct Place : Arrival {
    std::uint64_t order = 0;  // among equal values the lower one is better
  };
  struct Promotion {
    TrialId trial = 0;
    std::size_t rung = 0;  // which it leaves
  };
  struct Standing {
    std::size_t rank = 1, size = 1;  // the best has rank 1; equals have the same
    bool good_enough = false;
    std::optional<double> needed = {};  // the loss that is good enough, if that is one number
  };

  explicit PromotionRungs(Options options);

  std::size_t size() const { return rungs_.size(); }
  // The level of a rung; max_t for rung size(), at which nobody waits.
  std::int64_t level(std::size_t rung) const;
  double share(std::size_t rung) const { return rungs_[rung].share; }

  // The trial has reached the rung. False: it is there already, and nothing changes.
  bool enter(std::size_t rung, TrialId trial, const Arrival& arrival);
  // Takes the trial to go on, from the rungs with a level below `limit`. It keeps its place, where
  // it counts for others.
  std::optional<Promotion> promote(std::int64_t limit);
  // The same for the best of the highest rung where a trial waits, good enough or not.
  std::optional<Promotion> promote_best();
  // A waiting trial must not be promoted any more. Its value counts on.
  void give_up(std::size_t rung, TrialId trial);
  // The promotion from this rung was not carried out: the trial waits there again.
  void put_back(std::size_t rung, TrialId trial);

  using Places = std::map<TrialId, Place>;
  const Places& places(std::size_t rung) const { return rungs_[rung].places; }
  const Place* place(std::size_t rung, TrialId trial) const;  // null: it is not there
  // Whether a trial at the rung keeps all limits.
  bool any_kept(std::size_t rung) const { return !rungs_[rung].kept.empty(); }
  Standing standing(std::size_t rung, TrialId trial) const;  // it must be there

  json save() const;
  Result<void> load(const json& state);  // all or nothing

 private:
  struct Entry {
    RungValue value;
    std::uint64_t order = 0;
    TrialId trial = 0;
    double cost = 0;

    friend bool operator<(const Entry& a, const Entry& b) {
      return a.value != b.value ? a.value < b.value : a.order < b.order;
    }
  };
  struct Rung {
    std::int64_t level = 0;
    double share = 1;
    Places places = {};
    SortedNumbers kept = {};    // losses of those that keep all limits
    SortedNumbers broken = {};  // violations of the others
    std::set<Entry> waiting = {};
    std::set<Entry> candidates = {};          // of those that wait
    std::optional<RungValue> threshold = {};  // the best candidate that was looked at
    PromotionOrder<Entry> by_value = {};      // for Rule::cost
    std::uint64_t next = 0;                   // order of the next place
    // Of several objectives: the trials that keep all limits and are compared, the oldest first.
    std::deque<TrialId> newest = {};

    std::size_t size() const { return kept.size() + broken.size(); }
    std::size_t better_than(const RungValue& value) const;
    std::optional<double> cutoff(bool maximise) const;
    bool within(const RungValue& value, bool maximise) const;
  };

  static Entry entry_of(TrialId trial, const Place& place);
  bool by_fronts() const { return options_.objectives > 1; }
  void add(Rung& rung, TrialId trial, const Place& place) const;
  void compare(Rung& rung, TrialId trial) const;
  void order_by_fronts(Rung& rung) const;
  Result<void> load_newest(Rung& rung, const json& state) const;
  static void wait(Rung& rung, const Entry& entry, bool candidate);
  static void leave(Rung& rung, const Entry& entry);
  bool good_enough(const Rung& rung, const Entry& entry, bool candidate) const;
  std::optional<TrialId> best(Rung& rung) const;
  Promotion take(std::size_t rung, TrialId trial);
  json save(const Rung& rung) const;
  Result<Rung> load(const Rung& empty, const json& state) const;

  Options options_;
  std::vector<Rung> rungs_;  // ascending
};

}  // namespace attune
