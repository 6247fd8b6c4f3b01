#pragma once
// Tuning problems with a known best result, for measuring how good a tuner is.
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"

namespace attune::bench {

struct Problem {
  std::string name, group;
  json space;                                       // as in an experiment file
  std::function<double(const json&)> value;         // of parameters, without noise; to be minimised
  double best = 0;                                  // its least value, or the least that is known
  double noise = 0;                                 // deviation of what a trial adds to the value
  std::function<double(const json&)> failing = {};  // the probability that a trial fails
  bool decades = false;  // regret is measured on the logarithm of the value

  // With several objectives or limits this takes the place of `value`: `objectives` numbers to be
  // minimised, and by how much each of `limits` limits is exceeded. The noise is that of each
  // objective.
  std::function<std::vector<double>(const json&)> values = {};
  std::size_t objectives = 1, limits = 0;
  // One objective: what counts as the best value while no trial keeps the limits.
  double unmet = 0;
  // Several objectives: the value of a search is the share of `volume` that its trials do not
  // cover. Volumes are dominated ones up to `reference`; `volume` is that of the best front that is
  // known.
  std::vector<double> reference = {};
  double volume = 0;
};

// Two sets of the same families that share no function, instance or size: "choice" is for choosing
// the rules of tuners, "fresh" for measuring them afterwards. Nothing may be chosen on "fresh".
// The groups: reals, large (100 to 1,000 dimensions), categories, mixed, branches, decades, noise,
// failures, objectives (several), limits (one objective), both.
std::vector<Problem> problems(std::string_view set);

}  // namespace attune::bench
