#pragma once
// Whether a run of CMA-ES still improves: its criteria on losses. Source: Hansen, "The CMA
// Evolution Strategy: A Tutorial" (2016), section B.3: TolFun, EqualFunValues and Stagnation; the
// tolerance is relative to the spread of the first generation, so that the unit of the loss does
// not matter.
#include <cstddef>
#include <span>
#include <vector>

#include "base/json.h"
#include "base/result.h"

namespace attune {

// A value; at most kLongest numbers twice.
class CmaHistory {
 public:
  static constexpr std::size_t kLongest = 1000;

  CmaHistory(std::size_t dimensions, std::size_t population);

  // The finite losses of a generation, ascending.
  void add(std::span<const double> losses);

  // Either the last generation and the best of the last 10 + 30 n / lambda ones differ by less than
  // 1e-16 of the first generation's spread, or neither bests nor medians of the most recent third
  // of a long time are better than those of its first third.
  bool is_stalled() const;

  json save() const;
  Result<void> load(const json& state);  // all or nothing

 private:
  std::size_t short_, long_;  // generations that the two criteria need
  double first_spread_ = 0;   // halved, as all spreads here: their doubles may overflow
  double last_spread_ = 0;
  std::vector<double> bests_;    // oldest first
  std::vector<double> medians_;  // of the same generations
};

}  // namespace attune
