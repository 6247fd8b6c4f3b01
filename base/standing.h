#pragma once
// Compares results of experiments with several objectives and limits. Tuners, manager and studies
// all use this one rule. Pure functions of their arguments: any thread.
#include <compare>
#include <optional>
#include <span>
#include <vector>

#include "base/trial.h"

namespace attune {

// Whether more than one objective has no limit, so that results are trade-offs.
bool several(std::span<const Objective> objectives);

// Converts a finite reported number so that smaller is better. Without a limit: negated if the
// objective is maximised. With a limit: by how much the number exceeds the limit, negative if it
// keeps the limit; clipped to finite doubles.
double to_minimise(double reported, const Objective& objective);

// By how much a result breaks its limits: the sum of the positive excesses, each in the unit of its
// metric; 0 if it keeps all. `result` holds `objectives` numbers to minimise and then one excess
// for each limit (to_minimise).
double violation(std::span<const double> result, std::size_t objectives);

// Whether a is nowhere worse than b and somewhere better. All numbers are minimised; both have the
// same size.
bool dominates(std::span<const double> a, std::span<const double> b);

// The sort key of a result; smaller is better. Results that keep all limits come before any that
// breaks one, and those that break limits are ordered by their violation (Deb, Pratap, Agarwal,
// Meyarivan, "NSGA-II", IEEE TEC 2002, section VI). Equal violations are ordered by the first
// objective, then the second, ...
struct Standing {
  double violation = 0;        // not negative
  std::vector<double> values;  // of the objectives without a limit, minimised

  auto operator<=>(const Standing&) const = default;
};

// `reported` has one element for each objective, limited ones included. Nothing if one of them is
// missing or not finite: such a result is never the best.
std::optional<Standing> standing(std::span<const Objective> objectives,
                                 std::span<const std::optional<double>> reported);

}  // namespace attune
