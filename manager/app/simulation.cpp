#include "manager/app/simulation.h"

#include <sched.h>

#include <algorithm>

namespace attune {
namespace {

// The clock goes at least so far: a rule that needs strictly more than its deadline would not be
// met at the deadline itself, and the loop would stand still.
constexpr double kPastDeadline = 1e-6;  // seconds

}  // namespace

Result<void> simulate(boost::asio::io_context& io, const SteppedRunner& runner,
                      SyncedDecider& decider, SimulatedBackend& backend, ManualClock& clock) {
  while (true) {
    if (backend.ready()) runner.wake();
    runner.pump();
    if (runner.done()) return {};
    if (backend.ready() && !decider.congested()) continue;
    if (!decider.settled()) {
      decider.settle();
      if (io.stopped()) io.restart();  // run_one() stops it when it has no work
      if (!decider.settled() && io.run_one() == 0)
        return fail("the decider neither answers nor ends");
      continue;  // the runner carries out the answers before the clock moves
    }
    const auto event = backend.next_time();
    const auto deadline = runner.next_deadline();
    if (deadline && (!event || *deadline < *event)) {
      clock.advance_to(std::max(*deadline, clock.now() + kPastDeadline));
    } else if (!backend.advance()) {
      return fail("the simulation stands still: no trial runs, and nothing is waited for");
    }
  }
}

void share_one_processor() {
  cpu_set_t processors;
  CPU_ZERO(&processors);
  const int here = ::sched_getcpu();
  if (here < 0) return;
  CPU_SET(here, &processors);
  ::sched_setaffinity(0, sizeof processors, &processors);
}

}  // namespace attune
