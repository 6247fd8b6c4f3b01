#pragma once
// What a search is to find on a recorded problem, and how far it has come.
//
// The second metric is the time of an epoch, which each report has. It does not change while a
// trial trains.
#include <span>
#include <string>
#include <vector>

#include "base/trial.h"
#include "bench/multifidelity/table.h"

namespace attune {

// loss: the lowest one. tradeoffs: between the loss and the time of an epoch. limit: the lowest
// loss of a configuration whose epochs take at most as long as the median of all.
enum class Goal { loss, tradeoffs, limit };

class Judge {
 public:
  // A trial at the highest epoch that any trial has reached, and its loss there.
  struct Seen {
    std::size_t row = 0;
    double loss = 0;
  };

  // `normalisation`: of Goal::loss, "best" and "random20".
  Judge(const Table& table, Goal goal, const json& normalisation);

  std::vector<Objective> objectives() const;
  Metrics metrics(std::size_t row, double loss) const;
  // Of a configuration that does not, nothing counts.
  bool keeps_limit(std::size_t row) const;
  // 0: nothing better was recorded. 1: as good as 20 random configurations trained in full, in the
  // mean of many draws. `seen` may be empty: then it is as good as the worst.
  double regret(std::span<const Seen> seen) const;

 private:
  double raw(std::span<const Seen> seen) const;  // smaller is better
  double uncovered(std::span<const Seen> seen) const;

  const Table& table_;
  Goal goal_;
  double most_seconds_ = 0;                   // the limit
  double ideal_[2] = {}, reference_[2] = {};  // loss and seconds: of all trade-offs
  double best_ = 0, random_ = 1, worst_ = 0;
};

}  // namespace attune
