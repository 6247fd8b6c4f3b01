#pragma once
// Decides from the losses whether a run of CMA-ES still improves. Source: Hansen, "The CMA
// Evolution Strategy: A Tutorial" (2016), section B.3: TolFun, EqualFunValues and Stagnation. The
// tolerance is relative to the spread of the first generation, so the unit of the loss does not
// matter.
#include <cstddef>
#include <span>
#include <vector>

#include "base/json.h"
#include "base/result.h"

namespace attune {

// A value. Keeps two numbers of each generation, for less than 2 kLongest generations.
class CmaHistory {
 public:
  static constexpr std::size_t kLongest = 1000;

  CmaHistory(std::size_t dimensions, std::size_t population);

  // The finite losses of a generation, ascending.
  void add(std::span<const double> losses);

  // Whether the run has stalled. Either of two criteria: the losses of the last generation, and the
  // best losses of the last 10 + 30 n / lambda generations, differ by at most 1e-16 of the first
  // generation's spread; or neither the best nor the median losses of the newest third of a long
  // time are better than those of its first third.
  bool is_stalled() const;

  json save() const;
  Result<void> load(const json& state);  // all or nothing

 private:
  std::size_t short_, long_;  // generations that the two criteria need
  double first_spread_ = 0;   // half of max - min, because the difference of doubles may overflow
  double last_spread_ = 0;
  std::vector<double> bests_;    // oldest first
  std::vector<double> medians_;  // of the same generations
};

}  // namespace attune
