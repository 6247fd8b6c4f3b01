#pragma once
// The event loop of `attune simulate`. Virtual time moves only when nothing more can happen at the
// present moment:
//
//   the runner handles all events -> the decider answers all of it -> both again, until neither has
//   anything new -> the clock moves to the next event of a trial or the runner's next deadline
//
// So the course of an experiment depends only on its options and seed, not on how long the decider
// takes or what else the machine does. Events of the same time share a round, so that a simulation
// in which many trials report at the same times is cheaper.
#include <functional>
#include <optional>

#include <boost/asio/io_context.hpp>

#include "backends/simulated/simulated_backend.h"
#include "base/result.h"
#include "manager/decider/synced_decider.h"
#include "os/clock.h"

namespace attune {

// The functions of that name of a TrialRunner, which uses `decider` and `backend` below and was
// started.
struct SteppedRunner {
  std::function<void()> wake;
  std::function<void()> pump;
  std::function<std::optional<double>()> next_deadline;  // as clock.now()
  std::function<bool()> done;
};

// Runs until the runner is done. Error: nothing can happen any more that would end it. Other
// handlers on `io`, such as those of signals, run only while the loop waits for the decider.
Result<void> simulate(boost::asio::io_context& io, const SteppedRunner& runner,
                      SyncedDecider& decider, SimulatedBackend& backend, ManualClock& clock);

// Binds this thread, and the processes that it starts later, to the processor on which it runs.
// Call it before the daemon is spawned. Manager and daemon take turns, and waking a process on
// another processor takes several times as long as on the same one. Does nothing where it is not
// allowed.
void share_one_processor();

}  // namespace attune
