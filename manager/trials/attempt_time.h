#pragma once
// Measures the seconds between the results of an attempt.
#include <algorithm>
#include <optional>

namespace attune {

struct AttemptTime {
  double ran = 0;   // how long the attempt had run at its last result; as TrialReport::ran
  double last = 0;  // when that result came, or the attempt began; as TrialReport::time

  // Notes a result at `time`, and returns the seconds since the one before; never negative. They
  // are the difference of `now_ran` and `ran`, counted where the trial runs. Only without `now_ran`
  // they are the difference of times, which is wrong if somebody has set the clock.
  double advance(double time, std::optional<double> now_ran) {
    const double since = now_ran ? *now_ran - ran : time - last;
    ran = now_ran ? std::max(ran, *now_ran) : ran + std::max(since, 0.0);
    last = std::max(last, time);
    return std::max(since, 0.0);
  }
};

}  // namespace attune
