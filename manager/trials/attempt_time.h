#pragma once
// How much of the time of an attempt lies between its results.
#include <algorithm>
#include <optional>

namespace attune {

struct AttemptTime {
  double ran = 0;   // at the last one, in seconds that were counted where it runs
  double last = 0;  // when it came, or the attempt began; as TrialReport::time

  // Seconds from the last result until one at `time`, which is the last from now on. What does not
  // say how long the attempt had run then is told by the clock.
  double advance(double time, std::optional<double> now_ran) {
    const double since = now_ran ? *now_ran - ran : time - last;
    ran = now_ran ? std::max(ran, *now_ran) : ran + std::max(since, 0.0);
    last = std::max(last, time);
    return std::max(since, 0.0);
  }
};

}  // namespace attune
