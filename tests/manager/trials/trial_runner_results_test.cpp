// A result belongs to an attempt, and counts when that has ended well.
#include <catch2/catch.hpp>

#include "tests/manager/trials/scripted_world.h"

namespace attune::trial_runner_results_test {

using Calls = std::vector<std::string>;

RunnerOptions with_retries() {
  RunnerOptions options = World::limits(1, 1);
  options.trial.retries[FailureClass::signalled] = {RetryHow::restart, 1};
  return options;
}

TEST_CASE("results: of an attempt that dies nothing counts, and its retry has the word") {
  RunnerOptions options = with_retries();
  options.stop.reach_down["default"] = 0.01;
  World w(options);
  w.ready();
  w.propose();
  w.report("t0000", 0.001, true, "of a dead attempt");
  w.pump();
  CHECK(w.decider.take() == Calls{"next 1", "add t0000"});  // it has not ended
  CHECK_FALSE(w.notes.outcome.has_value());
  w.end("t0000", Ending::signalled);
  w.pump();
  CHECK(w.backend.started.size() == 2);
  CHECK(w.notes.all["t0000"].final_metric.is_null());
  w.report("t0000", 5.29, true, "of its retry");
  w.end("t0000");
  w.pump();
  CHECK(w.decider.take() == Calls{"result t0000 of its retry", "complete t0000", "close"});
  CHECK(w.notes.all["t0000"].final_metric == 5.29);
  CHECK(w.runner.status().metric("default")->min == 5.29);
}

TEST_CASE("results: a trial that fails for good has none") {
  World w(World::limits(1, 1));
  w.ready();
  w.propose();
  w.report("t0000", 0.001);
  const Ending how = GENERATE(Ending::failed, Ending::signalled, Ending::out_of_memory);
  w.end("t0000", how);
  w.pump();
  CHECK(w.decider.take() == Calls{"next 1", "add t0000", "error t0000", "close"});
  CHECK(w.notes.all["t0000"].final_metric.is_null());
  CHECK(w.runner.status().evaluations() == 0);
}

TEST_CASE("results: that of a trial which runs on for long ends the experiment when it ends") {
  RunnerOptions options = World::limits(1, 10);
  options.stop.reach_down["default"] = 0.01;
  World w(options);
  w.ready();
  w.propose();
  w.report("t0000", 0.001);
  w.pump();
  w.clock.advance(1000);
  w.pump();
  CHECK(w.backend.stopped.empty());
  w.end("t0000");
  w.pump();
  w.closed();
  REQUIRE(w.notes.outcome.has_value());
  CHECK_THAT(w.notes.outcome->reason, Catch::Contains("default"));
  CHECK(w.notes.all["t0000"].status == TrialStatus::succeeded);
}

TEST_CASE("results: whoever stops a trial behind its final result does not take it away") {
  RunnerOptions options = World::limits(1, 5);
  options.max_trial_seconds = 50;
  World w(options);
  w.ready();
  w.propose();
  w.report("t0000", 3);
  w.pump();
  w.decider.take();
  SECTION("the decider") { w.decider.listener->on_stop("t0000", "it is bad"); }
  SECTION("the user") { REQUIRE(w.runner.stop_trial("t0000", "asked")); }
  SECTION("the end of the experiment") { w.runner.interrupt("SIGINT"); }
  SECTION("a limit of time") { w.clock.advance(60); }
  w.pump();
  CHECK(w.backend.stopped == Calls{"t0000"});
  CHECK(w.decider.take().empty());
  w.end("t0000", Ending::stopped);
  w.pump();
  const Calls calls = w.decider.take();
  REQUIRE(calls.size() >= 2);
  CHECK(calls[0] == "result t0000 ok");
  CHECK(calls[1] == "complete t0000");
  CHECK(w.notes.all["t0000"].score() == 3.0);
}

TEST_CASE("results: one that comes while the experiment is being stopped counts") {
  World w(World::limits(1, 5));
  w.ready();
  w.propose();
  w.runner.interrupt("SIGINT");
  w.pump();
  w.report("t0000", 3);
  const Ending how = GENERATE(Ending::succeeded, Ending::stopped);
  w.end("t0000", how);
  w.pump();
  CHECK(w.notes.all["t0000"].status == TrialStatus::succeeded);
  CHECK(w.notes.all["t0000"].score() == 3.0);
  CHECK(w.notes.all["t0000"].reason.empty());
  CHECK(w.decider.take() ==
        Calls{"next 1", "add t0000", "result t0000 ok", "complete t0000", "close"});
}

TEST_CASE("results: a pause goes before one that came at the same moment") {
  World w(World::limits(1, 5));
  w.ready();
  w.propose();
  w.report("t0000", 3);
  w.pump();
  w.decider.listener->on_pause("t0000", "");
  w.pump();
  w.decider.take();
  SECTION("unless the trial had ended before") {
    w.end("t0000");
    w.pump();
    CHECK(w.decider.take() == Calls{"result t0000 ok", "complete t0000", "next 1"});
    return;
  }
  w.end("t0000", Ending::paused);
  w.pump();
  CHECK(w.decider.take() == Calls{"paused t0000 t0000-1", "next 1"});
  CHECK(w.notes.all["t0000"].final_metric.is_null());
}

// It asks for its next configuration because of the result of the one before.
TEST_CASE("results: that of a configuration counts once the trial asks for the next one") {
  World w(with_retries());
  w.ready();
  w.propose();
  w.report("t0000", 3, true, "first");
  w.pump();
  w.decider.take();
  const auto request = [&] {
    ReportMetricData metric;
    metric.type = ReportMetricData::Type::request_parameter;
    w.backend.events.push_back(TrialReport{"t0000", "more", metric, w.clock.wall(), 0, false});
    w.pump();
  };
  request();
  CHECK(w.decider.take() == Calls{"result t0000 first", "result t0000 more"});
  w.decider.listener->on_parameter("t0000", 1, ProposedTrial{std::int64_t{7}, {{"x", 7}}, "seven"});
  w.report("t0000", 4, true, "second", ParameterId(std::int64_t{7}));
  w.end("t0000", Ending::signalled);
  w.pump();
  // The decider has the first, and so it stays.
  w.report("t0000", 5, true, "again");
  request();
  CHECK(w.decider.take() == Calls{"result t0000 more"});
  CHECK(w.notes.all["t0000"].final_metric == 3);
}

TEST_CASE("results: one that a former manager has heard is told by the next, at the end") {
  World w(World::limits(1, 5));
  RestoredExperiment state;
  state.live.resize(1);
  RestoredExperiment::Trial& trial = state.live[0];
  trial.record.job_id = "t0000";
  trial.record.status = TrialStatus::running;
  trial.record.attempts = 1;
  trial.record.proposed = {std::int64_t{0}, {{"x", 0}}, "old", "", ""};
  trial.finals = {{std::int64_t{0}, "held", 3, 0}};
  state.next_sequence = 1;
  state.state = RunnerState{};
  const bool knows = GENERATE(false, true);
  w.runner.restore(std::move(state));
  w.runner.start();
  knows ? w.runner.on_resumed() : w.runner.on_ready();
  w.runner.pump();
  CHECK(w.decider.take() == Calls{knows ? "recall t0000" : "readopt t0000"});
  SECTION("well") {
    w.end("t0000");
    w.pump();
    const Calls calls = w.decider.take();
    REQUIRE(calls.size() >= 2);
    CHECK(calls[0] == "result t0000 held");
    CHECK(calls[1] == "complete t0000");
    CHECK(w.notes.all["t0000"].score() == 3.0);
  }
  SECTION("badly") {
    w.end("t0000", Ending::failed);
    w.pump();
    CHECK(w.decider.take().at(0) == "error t0000");
  }
  // Its manager has died while it stopped the experiment.
  SECTION("stopped") {
    w.end("t0000", Ending::stopped);
    w.pump();
    CHECK(w.decider.take().at(0) == "result t0000 held");
    CHECK(w.notes.all["t0000"].status == TrialStatus::succeeded);
  }
}

}  // namespace attune::trial_runner_results_test
