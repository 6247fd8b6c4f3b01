#pragma once
// DEHB: differential evolution in the brackets of synchronous Hyperband. The first bracket halves
// as usual. In all later ones each slot is filled by a new configuration, the child of those that
// stand at the same level in an earlier bracket, or of the best of the rung below.
//
// Awad, Mallik, Hutter, "DEHB: Evolutionary Hyperband for Scalable, Robust and Efficient
// Hyperparameter Optimization" (IJCAI 2021). The rule is that of Syne Tune, which differs from the
// authors' program. Configurations are vectors in the unit cube.
#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <vector>

#include "rungs/sync_brackets.h"

namespace attune {

// The random numbers of the evolution.
struct EvolutionDraws {
  virtual ~EvolutionDraws() = default;
  virtual std::array<std::size_t, 3> parents(std::size_t pool) = 0;  // different ones below `pool`
  virtual std::size_t any(std::size_t count) = 0;                    // below `count`
  virtual double uniform() = 0;                                      // in [0, 1]
  // Which parameters the child has from the mutant; one at least.
  virtual std::vector<bool> crossover(std::size_t parameters) = 0;
};

class EvolutionBrackets {
 public:
  using Place = SyncBrackets::Place;
  using Vector = std::vector<double>;

  // `first`: the rungs of the first bracket. `brackets`: how many there are in a cycle. `widths`:
  // how many coordinates each parameter has. `factor`: of the difference of two parents.
  EvolutionBrackets(RungSizes first, std::size_t brackets, std::vector<std::size_t> widths,
                    double factor);

  // fresh: any configuration; evolve: offspring(); go_on: the trial that stands there.
  enum class Kind { fresh, evolve, go_on };
  struct Job {
    Place place;
    Kind kind = Kind::fresh;
    TrialId trial = 0;  // that goes on
  };
  std::optional<Job> take(bool may_open, bool fresh = true);

  // A child for the slot: DE/rand/1 with binomial crossover. A coordinate outside of the cube is
  // drawn anew.
  Vector offspring(const Place& place, EvolutionDraws& draws) const;

  // The trial runs for the job with this vector. One that goes on keeps its own.
  void begin(TrialId trial, const Job& job, Vector x);
  // A child stands in the slot only if it is better than the target, which is the trial in that
  // slot of an earlier bracket; else the target does. As in Syne Tune, the latest loss of the
  // target counts, whatever its level, and a target that runs is not compared. A child that has
  // failed is worse than any target, where Syne Tune leaves the slot empty.
  std::optional<SyncBrackets::Full> result(TrialId trial, double loss);
  void take_back(TrialId trial);  // it has not begun after all
  void again(TrialId trial) { brackets_.give_back(trial, true); }
  std::optional<SyncBrackets::Full> lost(TrialId trial) { return brackets_.lost(trial); }
  void give_back(const Place& place) { brackets_.give_back(place); }
  std::vector<SyncBrackets::Full> vacate() { return brackets_.vacate(); }

  const SyncBrackets& brackets() const { return brackets_; }
  const Vector& vector_of(TrialId trial) const { return known_.at(trial).x; }
  // The trial that a child for the slot is crossed with, and compared with. It can change between
  // the two, because the earlier bracket may still run.
  std::optional<TrialId> target(const Place& place) const;
  // Whose vectors are the parents. Nothing: nobody stands there yet, and any trial may be taken.
  std::vector<std::optional<TrialId>> pool(const Place& place) const;

  json save() const;
  Result<void> load(const json& state);  // all or nothing

 private:
  struct Known {
    Vector x;
    std::optional<double> loss = {};  // the latest; nothing: it runs, or failed
    bool child = false;               // it is compared with its target
  };

  std::size_t dimensions() const;
  std::size_t level_index(const Place& place) const;
  std::optional<TrialId> earlier(std::int64_t bracket, std::size_t level, std::size_t slot) const;
  const Vector& any_vector(EvolutionDraws& draws) const;

  RungSizes first_;
  std::size_t cycle_;
  std::vector<std::size_t> widths_;
  double factor_;
  SyncBrackets brackets_;
  std::map<TrialId, Known> known_;               // all trials ever
  std::vector<std::vector<TrialId>> completed_;  // at each level of the first bracket
};

}  // namespace attune
