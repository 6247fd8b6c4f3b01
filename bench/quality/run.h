#pragma once
// One search: a tuner against a problem, in virtual time.
#include <vector>

#include "base/result.h"
#include "bench/quality/problem.h"

namespace attune::bench {

struct RunSettings {
  std::string tuner = "auto";
  json arguments = json::object();
  int trials = 100;
  int parallel = 1;  // so many trials run at once; each takes between one and two units of time
  std::uint64_t seed = 0;
  std::string prior = {};  // what the user believes (bench/quality/belief.h); empty: nothing
  // Experiments that the tuner learns from: each is Random on a copy of the problem (earlier.h).
  int related = 0, foreign = 0, earlier_trials = 50;
  bool curve = false;  // fill Run::curve
};

// After so many ended trials, what was found is written down.
inline constexpr int kMarks[] = {25, 50, 100, 200, 300, 500, 1000, 2000};

struct Run {
  // At each mark that was reached: the noiseless value of the best trial; with several objectives
  // the share of the volume that is missing (Problem::volume).
  std::vector<double> found;
  std::vector<double> curve;              // the same after each ended trial
  double ask_ms = 0, slowest_ask_ms = 0;  // mean and maximum
};

// The best trial is the one with the best observed result; with several objectives, those that no
// other is observed to dominate. Only trials that keep all limits count. HUGE_VAL stands for none.
Result<Run> run(const Problem& problem, const RunSettings& settings);

}  // namespace attune::bench
