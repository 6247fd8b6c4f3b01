#pragma once
// Watches whether commits of the store succeed. While they do not (stalled), the runner starts no
// trial and stops none, since a later manager would not know of it. The guard says when the runner
// may try the next commit, and when it has tried for too long.
#include <optional>

#include "base/result.h"
#include "manager/trials/trial_store.h"
#include "os/clock.h"

namespace attune {

class StoreGuard {
 public:
  // `retry_seconds`: between two tries. `patience_seconds`: for so long they may fail in a row. The
  // clock outlives the guard.
  StoreGuard(const Clock& clock, double retry_seconds, double patience_seconds)
      : clock_(clock), retry_seconds_(retry_seconds), patience_seconds_(patience_seconds) {}

  enum class Change {
    none,     // as before: commits succeed, or the guard is stalled
    stalled,  // the first commit that failed for now
    resumed,  // the first one that succeeded again
    lost,     // the failure cannot pass, or has lasted for `patience_seconds`. The runner must give
              // up: note() returns this for each further failure, too
  };
  // Notes the store's answer to a commit.
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
