#pragma once
// The trade-offs among the results of an experiment, and how they came about.
#include <cstddef>
#include <span>
#include <vector>

#include "base/standing.h"

namespace attune {

// How much was covered after so many results.
struct Coverage {
  std::size_t results = 0;
  double volume = 0;      // never decreases
  std::size_t front = 0;  // trade-offs; 0: no result keeps the limits yet
};

struct ParetoHistory {
  // Indices of the results that no other dominates, sorted by the first objective; with one
  // objective the best one. Empty: no result keeps the limits.
  std::vector<std::size_t> front;
  std::vector<double> reference;  // of each objective without a limit, minimised
  std::vector<Coverage> steps;    // `results` ascends; the last one is after all results
};

// `standings`: of one experiment (base/standing.h), in the order in which the results came; any
// number of them. The volume is that which results that keep the limits dominate below the
// reference (math/hypervolume.h): the worst of each objective among all that keep the limits. So
// the volume of one experiment can be compared with itself only, unless a `reference` is given, of
// one finite number for each objective, minimised. Then results beyond it cover nothing.
//
// `most` >= 1 steps, evenly spread over the results. Keeping the front costs as Leaders
// (base/leaders.h); each step at which it has changed costs a hypervolume, with two and three
// objectives O(front log front), with more exponential in their number.
ParetoHistory pareto_history(std::span<const Standing> standings, std::size_t most = 200,
                             std::vector<double> reference = {});

}  // namespace attune
