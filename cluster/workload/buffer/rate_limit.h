#pragma once
// How often items are sampled per item that is pushed, and who has to wait for the other.
//
// The ratio is (items given out) / (items pushed). A push may go on when the ratio is at least
// `min` after it: producers do not run ahead of a slow learner. A sample may go on when the ratio
// is at most `max` after it: a fast learner does not use up what is there. Nothing is ever dropped.
//
// Over all of the buffer's life, or, with a `window` of w pushes, over the last ones: every push
// multiplies both counts by 1 - 1/w before it is added, so that a push (and what was sampled before
// it) counts 1/e after w more of them. In pushes, not in seconds: then the same calls give the same
// answers, and a pause of everybody changes nothing. Without a window a learner that was away for
// long may afterwards go without new data for as long.
//
// A value; not thread safe.
#include <cstddef>
#include <limits>

namespace attune {

struct RateLimits {
  double min = 0;                                           // samples per push, 0: none
  double max = std::numeric_limits<double>::infinity();     // infinite: none
  double window = std::numeric_limits<double>::infinity();  // pushes, at least 1; infinite: all

  bool operator==(const RateLimits&) const = default;
};

class RateLimit {
 public:
  explicit RateLimit(const RateLimits& limits);

  bool may_push() const;                     // one item more
  bool may_sample(std::size_t items) const;  // so many more
  void pushed();
  void sampled(std::size_t items);

  struct Counts {
    double pushed = 0, sampled = 0;  // decayed
    bool operator==(const Counts&) const = default;
  };
  const Counts& counts() const { return counts_; }
  void restore(const Counts& counts) { counts_ = counts; }  // finite, at least 0

 private:
  RateLimits limits_;
  double keep_;  // what a push leaves of the counts
  Counts counts_;
};

}  // namespace attune
