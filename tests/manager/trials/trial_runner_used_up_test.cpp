// The decider says that a trial has used its whole resource: it succeeds with its last result.
#include <catch2/catch.hpp>

#include "tests/manager/trials/scripted_world.h"

namespace attune::trial_runner_used_up_test {

using Calls = std::vector<std::string>;
using Kind = EndAsked::Kind;

// One trial that runs and has reported 5, then 3.
struct Running : World {
  explicit Running(RunnerOptions given = limits(1, 5)) : World(std::move(given)) {
    ready();
    propose();
    report("t0000", 5, false);
    report("t0000", 3, false);
    pump();
    decider.take();
  }
  void use_up() {
    decider.listener->on_used_up("t0000", "27 of 27 epochs");
    pump();
  }
  const TrialRecord& trial() { return notes.all["t0000"]; }
};

TEST_CASE("used up: the last result is the final one, and the trial succeeds") {
  RunnerOptions options = World::limits(1, 5);
  options.trial.checkpoint_at_end = GENERATE(false, true);
  Running w(options);
  w.use_up();
  CHECK(w.backend.stopped == Calls{"t0000"});
  CHECK(w.notes.decisions == Calls{"stop t0000 by decider: 27 of 27 epochs"});
  // A later manager must know the result.
  CHECK(w.trial().status == TrialStatus::running);
  CHECK(w.trial().final_metric == 3);
  const Ending how =
      GENERATE(Ending::stopped, Ending::succeeded, Ending::failed, Ending::signalled, Ending::lost);
  w.end("t0000", how);
  w.pump();
  CHECK(w.trial().status == TrialStatus::succeeded);
  CHECK(w.trial().score() == 3.0);
  CHECK(w.trial().reason.empty());
  CHECK(w.trial().failures == 0);
  CHECK(w.backend.started.size() == 1);
  // The decider has the result already.
  CHECK(w.decider.take() == Calls{"complete t0000", "next 1"});
  // It may not have proposed the trial: then this is how it learns the result.
  CHECK(w.decider.results["t0000"] == 3);
  CHECK(w.backend.saves == (options.trial.checkpoint_at_end ? Calls{"t0000-1"} : Calls{}));
}

TEST_CASE("used up: nothing that the trial reports besides is its result") {
  Running w;
  SECTION("a final result that came before, and is held until the end of the attempt") {
    w.report("t0000", 9);
    w.pump();
    w.use_up();
  }
  SECTION("a final result that comes after") {
    w.use_up();
    w.report("t0000", 9);
    w.pump();
  }
  SECTION("one more intermediate result") {
    w.use_up();
    w.report("t0000", 9, false);
    w.pump();
  }
  w.end("t0000", Ending::stopped);
  w.pump();
  CHECK(w.trial().score() == 3.0);
  CHECK(w.decider.take() == Calls{"complete t0000", "next 1"});
}

TEST_CASE("used up: without a result the trial is stopped early") {
  World w(World::limits(1, 5));
  w.ready();
  w.propose();
  w.decider.listener->on_used_up("t0000", "27 of 27 epochs");
  w.decider.listener->on_used_up("t0099", "unknown");
  w.end("t0000", Ending::stopped);
  w.pump();
  CHECK(w.notes.all["t0000"].status == TrialStatus::early_stopped);
  CHECK(w.notes.all["t0000"].reason == "27 of 27 epochs");
  CHECK(w.notes.all["t0000"].final_metric.is_null());
}

TEST_CASE("used up: a trial that the user has stopped is canceled") {
  Running w;
  REQUIRE(w.runner.stop_trial("t0000", "asked"));
  w.use_up();
  w.end("t0000", Ending::stopped);
  w.pump();
  CHECK(w.trial().status == TrialStatus::user_canceled);
  CHECK(w.trial().final_metric.is_null());
}

TEST_CASE("used up: a trial that was asked to end before succeeds all the same") {
  RunnerOptions options = World::limits(1, 5);
  options.max_trial_seconds = 50;
  const Ending how = GENERATE(Ending::stopped, Ending::paused, Ending::failed);
  Running w(options);
  SECTION("it used it up already") {
    w.use_up();
    w.report("t0000", 9, false);
    w.decider.listener->on_stop("t0000", "it is bad");
  }
  SECTION("by a limit of time") {
    w.clock.advance(60);
    w.pump();
    CHECK(w.backend.stopped == Calls{"t0000"});
  }
  SECTION("by a pause") { w.decider.listener->on_pause("t0000", "others first"); }
  SECTION("by the end of the experiment") {
    w.runner.interrupt("SIGINT");
    w.pump();
  }
  w.use_up();
  w.end("t0000", how);
  w.pump();
  CHECK(w.trial().status == TrialStatus::succeeded);
  CHECK(w.trial().score() == 3.0);
  CHECK(w.decider.take().at(0) == "complete t0000");
}

TEST_CASE("used up: a trial that waits ends at once") {
  Running w;
  const bool paused = GENERATE(false, true);
  if (paused) {
    w.decider.listener->on_pause("t0000", "others first");
    w.end("t0000", Ending::paused);
    w.pump();
    CHECK(w.trial().status == TrialStatus::paused);
  } else {
    w.backend.saves_at_once = false;
    w.end("t0000", Ending::lost, true);
    w.pump();
    CHECK(w.trial().status == TrialStatus::pending);
  }
  w.decider.take();
  w.use_up();
  CHECK(w.trial().status == TrialStatus::succeeded);
  CHECK(w.trial().score() == 3.0);
  CHECK(w.decider.take().at(0) == "complete t0000");
}

TEST_CASE("used up: it is stopped once it is kept that it is") {
  Running w;
  w.notes.trouble = "the disk is full";
  w.use_up();
  CHECK(w.backend.stopped.empty());
  w.notes.trouble.clear();
  w.clock.advance(1);
  w.pump();
  CHECK(w.backend.stopped == Calls{"t0000"});
}

TEST_CASE("used up: a later manager carries it out, whatever else the trial has reported") {
  World w(World::limits(1, 10));
  RestoredExperiment state;
  state.next_sequence = 1;
  state.state = RunnerState{};
  state.live = {live_trial(0, TrialStatus::running)};
  state.live[0].record.last_metric = state.live[0].record.final_metric = 3;
  state.live[0].asked = EndAsked{Kind::complete, "27 of 27 epochs"};
  state.live[0].finals = {{std::int64_t{0}, "held", 9, 0}};
  const bool knows = GENERATE(false, true);
  w.runner.restore(std::move(state));
  w.runner.start();
  knows ? w.runner.on_resumed() : w.runner.on_ready();
  w.runner.pump();
  CHECK(w.backend.stopped == Calls{"t0000"});
  Calls calls = w.decider.take();
  CHECK(calls.at(0) == (knows ? "recall t0000" : "readopt t0000"));
  if (!knows) {  // the new decider hears the result
    REQUIRE(calls.size() == 2);
    CHECK(calls[1].find(R"("type":"FINAL")") != std::string::npos);
    CHECK(calls[1].find(R"("value":"3")") != std::string::npos);
  }
  // The decider says it again: it has not heard of the end.
  w.decider.listener->on_used_up("t0000", "27 of 27 epochs");
  w.end("t0000", Ending::stopped);
  w.pump();
  CHECK(w.decider.take() == Calls{"complete t0000", "next 1"});
  CHECK(w.notes.all["t0000"].status == TrialStatus::succeeded);
  CHECK(w.notes.all["t0000"].score() == 3.0);
}

}  // namespace attune::trial_runner_used_up_test
