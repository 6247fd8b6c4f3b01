// Reports that wait for the decision about them.
#include <catch2/catch.hpp>

#include "tests/manager/trials/scripted_world.h"

namespace attune::in_step_test {

using Calls = std::vector<std::string>;

RunnerOptions in_step() {
  RunnerOptions options = World::limits(1, 5);
  options.in_step = true;
  return options;
}

TEST_CASE("in step: a report is answered when the decider has judged it") {
  World w(in_step());
  w.ready();
  w.propose();
  w.decider.take();
  w.report("t0000", 0.5, false);
  w.pump();
  CHECK(w.decider.take() == Calls{"result t0000 ok", "sync judged t0000 0 1"});
  CHECK(w.backend.answered.empty());
  w.runner.on_synced("judged t0000 0 1");
  CHECK(w.backend.answered == Calls{"t0000 1"});
  // What is no answer to such a question changes nothing.
  for (const char* other :
       {"judged t0000 1 1", "judged t0009 0 1", "judged t0000", "settled 3", ""})
    w.runner.on_synced(other);
  CHECK(w.backend.answered.size() == 1);
}

TEST_CASE("in step: a trial that the decider ends gets no answer") {
  World w(in_step());
  w.ready();
  w.propose();
  w.report("t0000", 0.5, false);
  w.pump();
  SECTION("it is paused") { w.runner.on_pause("t0000", "rung 1"); }
  SECTION("it is stopped") { w.runner.on_stop("t0000", "rung 1"); }
  w.pump();
  w.runner.on_synced("judged t0000 0 1");
  CHECK(w.backend.answered.empty());
  w.report("t0000", 0.6, false);  // on its way meanwhile
  w.decider.take();
  w.pump();
  CHECK(w.decider.take().empty());
}

TEST_CASE("in step: a report that does not count is answered, too") {
  World w(in_step());
  w.ready();
  w.propose();
  w.decider.take();
  w.report("t0000", 0.5, false, "ok", ParameterId("of nobody"));
  w.pump();
  CHECK(w.decider.take() == Calls{"sync judged t0000 0 1"});
}

TEST_CASE("in step: a decider without memory is asked again about trials that may wait") {
  World w(in_step());
  RestoredExperiment state;
  state.live.push_back(live_trial(0, TrialStatus::running));
  state.live[0].steps.begin(4);
  state.live[0].steps.next(0, std::nullopt);
  state.live[0].steps.next(1, std::nullopt);
  state.next_sequence = 1;
  SECTION("one of the start") {
    w.runner.restore(state);
    w.ready();
    CHECK(w.decider.take().back() == "sync judged t0000 0 2");
  }
  SECTION("one that has lost it meanwhile") {
    w.runner.restore(state);
    w.runner.start();
    w.runner.on_resumed();
    w.pump();
    const Calls told = w.decider.take();
    CHECK(std::ranges::find(told, "sync judged t0000 0 2") == told.end());
    w.runner.on_ready();
    const Calls again = w.decider.take();
    CHECK(std::ranges::find(again, "sync judged t0000 0 2") != again.end());
  }
}

TEST_CASE("in step: without it nobody is asked") {
  World w(World::limits(1, 5));
  w.ready();
  w.propose();
  w.decider.take();
  w.report("t0000", 0.5, false);
  w.pump();
  CHECK(w.decider.take() == Calls{"result t0000 ok"});
}

}  // namespace attune::in_step_test
