#pragma once
// Whether what happens can be stored. While it cannot, the runner starts no trial and ends none: a
// later manager would not know of it. The runner tries again every so often, and gives the
// experiment up when tries have failed for too long.
#include <optional>

#include "base/result.h"
#include "manager/trials/trial_store.h"
#include "os/clock.h"

namespace attune {

class StoreGuard {
 public:
  // In seconds: the time between two tries, and how long tries may fail. The clock outlives it.
  StoreGuard(const Clock& clock, double retry_seconds, double patience_seconds)
      : clock_(clock), retry_seconds_(retry_seconds), patience_seconds_(patience_seconds) {}

  enum class Change {
    none,     // still stored, or still stalled
    stalled,  // it cannot be stored any more
    resumed,  // it can again
    lost,     // it never can be, or could not for too long; said with every answer from then on
  };
  // The store's answer to a commit.
  Change note(const Result<Kept>& answer);

  bool stalled() const { return stalled_since_.has_value(); }
  bool may_try() const { return !stalled() || clock_.now() >= retry_at_; }
  double retry_at() const { return retry_at_; }  // while stalled, in Clock::now() seconds

 private:
  const Clock& clock_;
  double retry_seconds_, patience_seconds_;
  std::optional<double> stalled_since_;
  double retry_at_ = 0;
};

}  // namespace attune
