// LocalBackend: what is left of attempts whose shim was killed. The event loop goes on meanwhile.
#include <memory>
#include <utility>

#include "backends/local/leftovers.h"
#include "backends/local/local_attempt.h"

namespace attune {

// Whether nothing is left of an attempt whose shim has ended, which a shim that was killed has not
// seen to. Later otherwise.
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

// Nobody waits for the end of it.
void LocalBackend::hunt(Leftovers leftovers) {
  if (leftovers.look()) look_again(std::move(leftovers), nullptr);
}

// A process that is executing another program shows what it is in a moment.
void LocalBackend::look_again(Leftovers leftovers, std::function<void()> done) {
  const auto pause = std::make_shared<boost::asio::steady_timer>(io_, Leftovers::kPause);
  pause->async_wait([this, pause, leftovers = std::move(leftovers), done = std::move(done),
                     alive = std::weak_ptr(alive_)](const auto& error) mutable {
    if (error || alive.expired()) return;
    if (leftovers.look()) return look_again(std::move(leftovers), std::move(done));
    if (done) done();
  });
}

}  // namespace attune
