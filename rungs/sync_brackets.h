#pragma once
// Brackets of synchronous successive halving: which trial stands in which slot, and which go on
// when a rung is full. The rule is that of Syne Tune:
//
//   - A free slot is looked for in the oldest bracket first. If no bracket has one, a new bracket
//     opens, the next in the cycle of sizes. So no worker ever waits for a rung to be full.
//   - When all trials of a rung have their results, the best of them get the slots of the next
//     rung.
//
// It differs where trials fail. Syne Tune fills a rung up with failed trials if too few others are
// left; here the rung becomes smaller, and a bracket in which all have failed is over.
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
#include "rungs/sync_brackets_sizes.h"

namespace attune {

class SyncBrackets {
 public:
  // Whose trials go on to the next rung. Without promotion the slots of the next rung are empty, as
  // those of a first rung are, and no bracket is ever forgotten.
  enum class Promotes { every_bracket, first_bracket };

  struct Place {
    std::int64_t bracket = 0;
    std::size_t rung = 0, slot = 0;
    auto operator<=>(const Place&) const = default;
  };

  // A rung whose trials all have a result, or have failed. Only those of a bracket that promotes
  // are listed.
  struct Full {
    struct Placed {
      TrialId trial = 0;
      double loss = 0;
      std::size_t rank = 0;  // counted from 1
    };
    std::int64_t level = 0;
    std::size_t results = 0;        // how many did not fail
    std::vector<Placed> best = {};  // they go on, the best first
    std::vector<Placed> rest = {};  // they do not
  };

  // `sizes`: of the brackets, in the order in which they open, again and again. Not empty.
  SyncBrackets(std::vector<RungSizes> sizes, Promotes promotes);

  // Takes a free slot. may_open: a new bracket may open. fresh: the slot may be empty; else it is
  // one with a trial that goes on. Each taken slot must come back: begin() or give_back().
  std::optional<Place> take(bool may_open, bool fresh = true);
  void give_back(const Place& place);
  // The trial that is to go on in this slot.
  std::optional<TrialId> trial_at(const Place& place) const;

  // The trial runs for the taken slot. It may be another one than trial_at(), in its stead.
  void begin(TrialId trial, const Place& place);
  // It has not begun after all: the slot is free again. keep: the trial still stands in it.
  void give_back(TrialId trial, bool keep);
  // The running trial has its result; NaN: it has failed. `stands`: the trial and loss that stand
  // in the slot from now on, if they are not its own. Says if the rung is full now.
  struct Standing {
    TrialId trial = 0;
    double loss = 0;
  };
  std::optional<Full> result(TrialId trial, double loss, std::optional<Standing> stands = {});
  // A trial that waits, for its rung to be full or to go on, is lost: it counts as failed.
  std::optional<Full> lost(TrialId trial);
  // There are no new configurations any more: all empty slots vanish.
  std::vector<Full> vacate();

  // Of a trial that runs or waits here.
  const Place* place_of(TrialId trial) const;
  bool runs(TrialId trial) const;
  const std::map<TrialId, Place>& places() const { return places_; }  // of all of them

  const RungSizes& sizes(std::int64_t bracket) const;
  std::int64_t level(const Place& p) const { return sizes(p.bracket)[p.rung].level; }
  bool is_top(const Place& p) const { return p.rung + 1 == sizes(p.bracket).size(); }
  std::size_t cycle() const { return sizes_.size(); }
  // How many slots the rung has; it may have become smaller than its size.
  std::size_t slots(std::int64_t bracket, std::size_t rung) const;
  // Who stands in a slot with his result. Nothing: nobody yet, he has failed, or no such slot.
  std::optional<Standing> standing(const Place& place) const;

  // How a rung looks that is not full, for a trial that waits there.
  struct Filling {
    std::int64_t level = 0;
    std::size_t rank = 0, of = 0;  // of the trial, among the results so far
    std::size_t missing = 0;       // results that are still to come
  };
  std::optional<Filling> filling(TrialId trial) const;  // nothing: it stands in no slot

  // All trials that stand in a slot, run or wait; some twice.
  std::vector<TrialId> trials() const;

  json save() const;
  static Result<SyncBrackets> load(std::vector<RungSizes> sizes, Promotes promotes,
                                   const json& state);

 private:
  enum class State { free, taken, occupied };
  struct Slot {
    State state = State::free;
    std::optional<TrialId> trial = {};
    double loss = std::numeric_limits<double>::quiet_NaN();
  };
  struct Rung {
    std::size_t limit = 0;            // so many slots it has
    std::vector<Slot> slots = {};     // those that were ever taken or have a trial
    std::set<std::size_t> free = {};  // of those
    std::size_t open = 0;             // of those: not occupied
    SortedNumbers losses = {};        // of the trials that have a result
    bool full() const { return slots.size() == limit && open == 0; }
  };
  struct Bracket {
    std::size_t current = 0;  // the rung that is being filled
    std::vector<Rung> rungs = {};
  };

  bool promotes(const Place& place) const;
  Bracket& add_bracket(std::int64_t id);
  Slot& slot_at(const Place& place);
  void occupy(const Place& place, std::optional<Standing> standing);
  std::optional<Full> close_if_full(std::int64_t id);
  static Result<Rung> load_rung(const json& state, const RungSize& size);
  Result<void> load_bracket(const json& state);
  Result<void> load_places(const json& state);

  std::vector<RungSizes> sizes_;
  Promotes promotes_;
  std::int64_t next_ = 0;  // bracket
  std::map<std::int64_t, Bracket> brackets_;
  std::set<std::int64_t> open_;  // brackets that are not over
  std::map<TrialId, Place> places_;
};

}  // namespace attune
