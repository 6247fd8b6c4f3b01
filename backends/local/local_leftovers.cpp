// LocalBackend: kills what is left of attempts whose shim was killed, without blocking the event
// loop.
#include <memory>
#include <utility>

#include "backends/local/leftovers.h"
#include "backends/local/local_attempt.h"

namespace attune {

// Whether no process is left of an attempt whose shim has ended. A shim that wrote an exit record
// has seen to that itself; one that was killed has not. If this returns false, it marks the attempt
// again when nothing is left.
bool LocalBackend::is_clear(Attempt& attempt) {
  using enum Attempt::Leftover;
  if (attempt.spool.facts().exit || attempt.leftover == killed) return true;
  if (std::exchange(attempt.leftover, hunted) == hunted) return false;
  Leftovers leftovers(folder(attempt.job_id), attempt.number, attempt.spool.facts());
  if (!leftovers.look()) return true;
  look_again(std::move(leftovers), [this, order = attempt.order] {
    const auto found = attempts_.find(order);
    if (found == attempts_.end()) return;
    found->second->leftover = killed;
    mark(*found->second);
  });
  return false;
}

// Kills leftovers, without reporting the end.
void LocalBackend::hunt(const std::string& job_id, int attempt, AttemptFacts facts) {
  Leftovers leftovers(folder(job_id), attempt, std::move(facts));
  if (!leftovers.look()) return;
  const auto hunted = hunted_.emplace(job_id, attempt);
  look_again(std::move(leftovers), [this, hunted] { hunted_.erase(hunted); });
}

// Looks again after a pause: a process in the middle of execve() shows its environment only then.
// Calls `done` when nothing is left.
void LocalBackend::look_again(Leftovers leftovers, std::function<void()> done) {
  const auto pause = std::make_shared<boost::asio::steady_timer>(io_, Leftovers::kPause);
  pause->async_wait([this, pause, leftovers = std::move(leftovers), done = std::move(done),
                     alive = std::weak_ptr(alive_)](const auto& error) mutable {
    if (error || alive.expired()) return;
    if (leftovers.look()) return look_again(std::move(leftovers), std::move(done));
    done();
  });
}

}  // namespace attune
