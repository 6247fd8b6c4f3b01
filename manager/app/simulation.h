#pragma once
// The event loop of `attune simulate`: virtual time stands still until everybody has said all that
// there is to say about it.
//
//   the runner handles what there is -> the decider answers all of it -> ... nothing new is said
//   -> the clock goes to the next event of a trial, or to the runner's next deadline
//
// So the course of an experiment is a function of its options and seed, however long the decider
// takes and whatever else the machine does. Events of one time share a round, so that coarse epoch
// lengths cost less.
#include <functional>
#include <optional>

#include <boost/asio/io_context.hpp>

#include "backends/simulated/simulated_backend.h"
#include "base/result.h"
#include "manager/decider/synced_decider.h"
#include "os/clock.h"

namespace attune {

// The trial runner, over `decider` and `backend` below; it was started.
struct SteppedRunner {
  std::function<void()> wake;                            // the backend has something
  std::function<void()> pump;                            // does all that can be done now
  std::function<std::optional<double>()> next_deadline;  // on the clock's now()
  std::function<bool()> done;
};

// Until the runner is done. An error when nothing will ever happen that could end it. Handlers of
// other things on `io`, such as signals, run when the decider is waited for.
Result<void> simulate(boost::asio::io_context& io, const SteppedRunner& runner,
                      SyncedDecider& decider, SimulatedBackend& backend, ManualClock& clock);

// Keeps this thread, and what it starts from now on, on the processor on which it runs. Call it
// before the daemon is spawned: the two take turns, and waking the other one on a processor of its
// own takes several times as long as handing it this one. Where that is not allowed it does
// nothing.
void share_one_processor();

}  // namespace attune
