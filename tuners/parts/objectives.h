#pragma once
// Turns an outcome into the numbers that a tuner of several objectives learns from, and ranks
// results.
#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "base/standing.h"
#include "base/trial.h"
#include "tuners/tuner.h"

namespace attune {

// Made once from the Context that the registry gives to a tuner, then called for each outcome. A
// value. Without objectives in the context, it is the loss alone.
class Objectives {
 public:
  Objectives() = default;
  explicit Objectives(const Context& context);

  std::size_t size() const { return optimised_.size() + 1; }  // objectives without a limit
  std::size_t limits() const { return limited_.size(); }
  bool several() const { return size() > 1; }

  // Returns size() + limits() finite numbers. The first size() are to be minimised, in the order of
  // the experiment: the loss, then to_minimise() of each other objective. The rest say by how much
  // each limit is exceeded. Nothing if a number is missing or not finite, or if the outcome is not
  // usable(). If a metric was reported twice, the first one counts.
  std::optional<std::vector<double>> operator()(const Outcome& outcome) const;

 private:
  std::vector<Objective> optimised_, limited_;  // without the first objective: outcome.loss has it
};

// The indices of the results, the best first. `results` holds one result after the other, in the
// form above. Results that keep all limits come first, by fronts and crowding (crowded_order,
// math/pareto.h); then the others by their violation (base/standing.h), equal ones by index.
std::vector<std::size_t> ranking(std::span<const double> results, std::size_t objectives,
                                 std::size_t limits);

}  // namespace attune
