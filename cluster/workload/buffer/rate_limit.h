#pragma once
// Limits how many items are sampled for each item that is pushed, and says who has to wait.
//
// The ratio is (items given out) / (items pushed). A push may go on if the ratio after it is at
// least `min`, so that producers do not run ahead of a slow learner. A sample may go on if the
// ratio after it is at most `max`, so that a fast learner does not use up the present items.
// Nothing is ever dropped.
//
// The counts are those of the buffer's whole life. With a `window` of w pushes they are those of
// the last ones: every push first multiplies both counts by 1 - 1/w, so that a push (and what was
// sampled before it) counts 1/e after w further pushes. The window is in pushes, not in seconds: so
// the same calls give the same answers, and a pause of everybody changes nothing. Without a window
// a learner that was away for long may afterwards go without new data for as long.
#include <cstddef>
#include <limits>

namespace attune {

struct RateLimits {
  double min = 0;                                           // samples per push; 0: no limit
  double max = std::numeric_limits<double>::infinity();     // infinite: no limit
  double window = std::numeric_limits<double>::infinity();  // pushes, at least 1; infinite: all

  bool operator==(const RateLimits&) const = default;
};

class RateLimit {
 public:
  explicit RateLimit(const RateLimits& limits);

  bool may_push() const;                     // whether one more item may be pushed
  bool may_sample(std::size_t items) const;  // whether so many more may be sampled
  void pushed();
  void sampled(std::size_t items);

  struct Counts {
    double pushed = 0, sampled = 0;  // decayed
    bool operator==(const Counts&) const = default;
  };
  const Counts& counts() const { return counts_; }
  void restore(const Counts& counts) { counts_ = counts; }  // must be finite and at least 0

 private:
  RateLimits limits_;
  double keep_;  // factor of the counts at each push
  Counts counts_;
};

}  // namespace attune
