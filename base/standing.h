#pragma once
// How good a result is in an experiment with several objectives and limits: the one rule of tuners,
// manager and studies. Pure functions of their arguments: any thread.
#include <compare>
#include <optional>
#include <span>
#include <vector>

#include "base/trial.h"

namespace attune {

// Whether more than one is optimised, so that results are trade-offs.
bool several(std::span<const Objective> objectives);

// A finite number as it is minimised: negated where more is better. With a limit, by how much that
// is exceeded, negative where it is kept; within the range of doubles.
double to_minimise(double reported, const Objective& objective);

// Of a result, `objectives` numbers to minimise and then one for each limit (to_minimise), by how
// much it breaks limits: the sum, each in the unit of its metric. 0 where all are kept.
double violation(std::span<const double> result, std::size_t objectives);

// Nowhere worse than b and somewhere better, all minimised; both of one size.
bool dominates(std::span<const double> a, std::span<const double> b);

// A result as others are compared with it. All that keep the limits are better than any that breaks
// one, and the less they break them, the better (Deb, Pratap, Agarwal, Meyarivan, "NSGA-II", IEEE
// TEC 2002, section VI). Where that is equal, order: the first objective, then the second, ...
// Smaller is better.
struct Standing {
  double violation = 0;        // not negative
  std::vector<double> values;  // of the objectives without a limit, minimised

  auto operator<=>(const Standing&) const = default;
};

// `reported` has an element for each objective, of which the first has no limit. Nothing when one
// of them is missing or not finite: such a result is never the best.
std::optional<Standing> standing(std::span<const Objective> objectives,
                                 std::span<const std::optional<double>> reported);

}  // namespace attune
