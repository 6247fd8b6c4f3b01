#pragma once
// How long to wait between two tries. No clock.
#include <algorithm>
#include <chrono>
#include <cstdint>

#include "base/rng.h"

namespace attune {

// Doubled each time, from the first to the longest; of that a random part between one half and
// all, so that many who lost the same one do not come back at once.
class Backoff {
 public:
  using milliseconds = std::chrono::milliseconds;
  // 0 < first <= longest.
  Backoff(milliseconds first, milliseconds longest, const Rng& rng)
      : first_(first), longest_(longest), bound_(first), rng_(rng) {}

  milliseconds next() {
    const double part = rng_.uniform(0.5, 1) * static_cast<double>(bound_.count());
    bound_ = std::min(2 * bound_, longest_);
    return milliseconds(static_cast<std::int64_t>(part));
  }
  void reset() { bound_ = first_; }

 private:
  milliseconds first_, longest_;
  milliseconds bound_;  // of the next one
  Rng rng_;
};

}  // namespace attune
