#pragma once
// Computes how long to wait between two tries. It uses no clock.
#include <algorithm>
#include <chrono>
#include <cstdint>

#include "base/rng.h"

namespace attune {

// The bound doubles each time, from `first` to `longest`. The wait is a random part of the bound,
// between a half and the whole, so that many clients that lost the same server do not come back at
// once.
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
  milliseconds bound_;  // of the next wait
  Rng rng_;
};

}  // namespace attune
