#pragma once
// The experiment says once how far a full training goes; each algorithm has an argument for it
// under the name that its reference gave it.
#include <algorithm>
#include <array>
#include <string_view>
#include <vector>

#include "base/arguments.h"
#include "base/trial.h"

namespace attune {

// `given` with the experiment's fidelity in those of the `declared` arguments that mean it. What is
// given stays.
inline json with_fidelity(json given, const std::vector<Argument>& declared,
                          const Context& context) {
  constexpr std::array<std::string_view, 4> kMax = {"max_t", "R", "max_budget", "epoch_num"};
  constexpr std::array<std::string_view, 2> kMetric = {"resource_attr", "time_attr"};
  if (!context.fidelity || !(given.is_object() || given.is_null())) return given;
  for (const Argument& argument : declared) {
    if (given.contains(argument.name)) continue;
    if (std::ranges::count(kMax, argument.name) > 0) given[argument.name] = context.fidelity->max;
    if (std::ranges::count(kMetric, argument.name) > 0) {
      given[argument.name] = context.fidelity->metric;
    }
  }
  return given;
}

}  // namespace attune
