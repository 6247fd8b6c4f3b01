#include "cluster/workload/buffer/rate_limit.h"

namespace attune {

RateLimit::RateLimit(const RateLimits& limits) : limits_(limits), keep_(1 - 1 / limits.window) {}

bool RateLimit::may_push() const {
  return keep_ * counts_.sampled >= limits_.min * (keep_ * counts_.pushed + 1);
}

bool RateLimit::may_sample(std::size_t items) const {
  // Without a limit and without pushes the product is infinity * 0, which is not a number.
  return counts_.sampled + static_cast<double>(items) <= limits_.max * counts_.pushed ||
         limits_.max == std::numeric_limits<double>::infinity();
}

void RateLimit::pushed() {
  counts_.pushed = keep_ * counts_.pushed + 1;
  counts_.sampled *= keep_;
}

void RateLimit::sampled(std::size_t items) { counts_.sampled += static_cast<double>(items); }

}  // namespace attune
