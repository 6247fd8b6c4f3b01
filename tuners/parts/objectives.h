#pragma once
// What a tuner of several objectives learns from an outcome.
#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "base/standing.h"
#include "base/trial.h"
#include "tuners/tuner.h"

namespace attune {

// Made once of the Context that the registry hands to a tuner, then asked for each outcome. A
// value: copies know the same. Never empty: without objectives it is the loss alone.
class Objectives {
 public:
  Objectives() = default;
  explicit Objectives(const Context& context);

  std::size_t size() const { return optimised_.size() + 1; }  // those without a limit
  std::size_t limits() const { return limited_.size(); }
  bool several() const { return size() > 1; }

  // size() + limits() finite numbers: first what is to be minimised, in the order of the
  // experiment, the loss first, of the others to_minimise() of what was reported. Then by how much
  // each limit is exceeded. Nothing when one of them is missing or not finite, or the outcome is
  // not usable(). Of a metric that was reported twice the first counts.
  std::optional<std::vector<double>> operator()(const Outcome& outcome) const;

 private:
  std::vector<Objective> optimised_, limited_;  // without the first one
};

// Results one after the other, as above: their numbers, the best first. Those that keep all limits
// by fronts and crowding (crowded_order, math/pareto.h), then the others by their violation: the
// order of Standing (base/standing.h) with the less crowded first in the place of the first
// objective.
std::vector<std::size_t> ranking(std::span<const double> results, std::size_t objectives,
                                 std::size_t limits);

}  // namespace attune
