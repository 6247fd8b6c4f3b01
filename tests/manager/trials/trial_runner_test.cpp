// The trial state machine, stepped by hand: no processes, no timers, no pipes.
#include "manager/trials/trial_runner.h"

#include <catch2/catch.hpp>

#include "tests/manager/trials/scripted_world.h"

namespace attune::trial_runner_test {

using Calls = std::vector<std::string>;
using Catch::Contains;

TEST_CASE("runner: a whole experiment, call by call") {
  World w;
  CHECK(w.decider.take().empty());  // nothing is asked before the decider is ready
  w.ready();
  CHECK(w.decider.take() == Calls{"next 2"});
  w.decider.propose();
  w.propose();
  CHECK(w.decider.take() == Calls{"add t0000", "add t0001"});
  REQUIRE(w.backend.started.size() == 2);
  CHECK(w.backend.started[1].parameter_text == "text 1");
  CHECK(w.backend.started[1].sequence == 1);

  w.report("t0001", 0.25, false);
  w.report("t0001", 0.5);
  w.end("t0001");
  w.pump();
  // The final metric before the end; one new trial for the one that ended.
  CHECK(w.decider.take() ==
        Calls{"result t0001 ok", "result t0001 ok", "complete t0001", "next 1"});
  w.propose();
  CHECK(w.decider.take() == Calls{"add t0002"});
  w.end("t0000", Ending::failed);
  w.pump();
  CHECK(w.decider.take() == Calls{"error t0000"});  // maxTrialNumber: no more
  w.report("t0002", 0.75);
  w.end("t0002");
  w.pump();
  CHECK(w.decider.take() == Calls{"result t0002 ok", "complete t0002", "close"});
  CHECK_FALSE(w.runner.done());
  w.closed();
  REQUIRE(w.runner.done());
  CHECK(w.notes.outcome->kind == ExperimentEnd::Kind::completed);
  CHECK(w.notes.outcome->reason == "maxTrialNumber is reached");
  REQUIRE(w.notes.trials.size() == 3);
  CHECK(w.notes.trials[0].score() == 0.5);
  CHECK(w.notes.trials[0].reports == 1);
  CHECK(w.notes.trials[1].status == TrialStatus::failed);
  CHECK(w.notes.trials[1].reason == "exit code 1");
  CHECK(w.notes.tally.succeeded == 2);
  CHECK(w.notes.tally.failed == 1);
  CHECK(w.backend.released == Calls{"t0001", "t0000", "t0002"});
}

TEST_CASE("runner: a decider that answers from inside next()") {
  World w(World::limits(3, 10));
  w.decider.answers_at_once = true;
  w.ready();
  for (int i = 0; i < 10; ++i) {
    CHECK(w.notes.tally.running == std::min(3, 10 - i));
    w.report(job_id_of(i), i);
    w.end(job_id_of(i));
    w.pump();
  }
  CHECK(w.decider.calls.back() == "close");
  CHECK(w.backend.started.size() == 10);
}

TEST_CASE("runner: a decision stops a trial, and later reports do not count") {
  World w;
  w.ready();
  w.propose();
  w.report("t0000", 1, false, "bad");
  w.report("t0000", 2, false);
  w.report("t0000", 3);
  w.pump();
  CHECK(w.backend.stopped == Calls{"t0000"});
  w.decider.listener->on_stop("t0000", "again");
  w.decider.listener->on_stop("t0099", "unknown");
  w.end("t0000");  // it ended well by itself meanwhile; the decision stands
  w.decider.take();
  w.pump();
  CHECK(w.decider.take() == Calls{"remove t0000 early", "next 1"});
  CHECK(w.backend.stopped.size() == 1);
  REQUIRE(w.notes.trials.size() == 1);
  CHECK(w.notes.trials[0].status == TrialStatus::early_stopped);
  CHECK(w.notes.trials[0].reason == "it is bad");
  CHECK(w.notes.trials[0].final_metric.is_null());
  CHECK(w.notes.decisions == Calls{"stop t0000 by decider: it is bad"});
  CHECK(w.notes.ignored ==
        Calls{"t0000: after the decision: it is bad", "t0000: after the decision: it is bad"});
}

TEST_CASE("runner: no more trials ends the experiment when nothing runs and nothing waits") {
  World w(World::limits(2, std::nullopt));
  w.ready();
  w.decider.propose();
  w.exhausted();
  CHECK_FALSE(w.runner.done());
  w.report("t0000", 1);
  w.end("t0000");
  w.decider.take();
  w.pump();
  // An end may have made new proposals possible: both free slots ask again.
  CHECK(w.decider.take() == Calls{"result t0000 ok", "complete t0000", "next 2"});
  SECTION("still none") {
    w.exhausted();
    CHECK(w.decider.take() == Calls{"close"});
  }
  SECTION("there are") {
    w.decider.propose();
    w.propose();
    CHECK(w.notes.tally.running == 2);
  }
}

TEST_CASE("runner: an exhausted decider without any trial") {
  World w;
  w.ready();
  w.exhausted("empty space");
  CHECK(w.decider.calls.back() == "close");
  w.closed();
  CHECK(w.notes.outcome->kind == ExperimentEnd::Kind::failed);
  CHECK_THAT(w.notes.outcome->reason, Contains("no trial has a result"));
}

TEST_CASE("runner: more proposals than slots wait, and say why") {
  World w(World::limits(1, 2));
  w.ready();
  w.decider.propose();
  w.propose();
  CHECK(w.notes.tally.running == 1);
  CHECK(w.notes.tally.pending == 1);
  const LiveTrial& waiting = *w.runner.table().in(TrialStatus::pending).begin()->second;
  CHECK(w.runner.table().why_waits(waiting) == "trialConcurrency: 1 trials run");
  w.report("t0000", 1);
  w.end("t0000");
  w.pump();
  CHECK(w.notes.tally.running == 1);
  w.end("t0001");
  w.pump();
  CHECK(w.decider.calls.back() == "close");
}

TEST_CASE("runner: time limits") {
  RunnerOptions options = World::limits(2, 10);
  options.max_seconds = 100;
  options.max_trial_seconds = 30;
  World w(options);
  w.ready();
  CHECK(w.runner.next_deadline() == 100);
  w.propose();
  w.clock.advance(10);
  w.propose();
  CHECK(w.runner.next_deadline() == 30);
  w.clock.advance(20);
  w.pump();
  CHECK(w.backend.stopped == Calls{"t0000"});
  CHECK(w.runner.next_deadline() == 40);
  w.report("t0001", 5);
  w.end("t0000", Ending::stopped);
  w.pump();
  CHECK(w.notes.trials[0].status == TrialStatus::early_stopped);
  CHECK(w.notes.trials[0].reason == "maxTrialDuration is over");
  w.propose();
  w.end("t0001");
  w.pump();
  w.clock.advance(70);
  w.decider.take();
  w.pump();
  CHECK(w.backend.stopped.back() == "t0002");
  w.propose();  // too late
  w.end("t0002", Ending::stopped);
  w.pump();
  CHECK(w.decider.take() == Calls{"remove t0002 user", "close"});
  CHECK(w.notes.trials.back().status == TrialStatus::user_canceled);
  w.closed();
  CHECK(w.notes.outcome->kind == ExperimentEnd::Kind::completed);
  CHECK_FALSE(w.runner.next_deadline().has_value());
}

TEST_CASE("runner: an interrupt stops in order, a second one kills") {
  World w;
  w.ready();
  w.propose();
  w.decider.take();
  w.runner.interrupt("interrupted by SIGINT");
  w.pump();
  CHECK(w.backend.stopped == Calls{"t0000"});
  CHECK(w.decider.take().empty());
  SECTION("once: the trial waits for the resume, with what it has saved") {
    w.end("t0000", Ending::stopped);
    w.pump();
    CHECK(w.decider.take() == Calls{"close"});
    w.closed();
    CHECK(w.notes.all["t0000"].status == TrialStatus::pending);
    CHECK(w.notes.all["t0000"].checkpoint == "t0000-1");
  }
  SECTION("twice") {
    w.runner.interrupt("again");
    CHECK(w.backend.killed);
    CHECK(w.decider.take() == Calls{"kill"});
    w.end("t0000", Ending::stopped);
    w.pump();
    CHECK(w.decider.take().empty());
  }
  REQUIRE(w.runner.done());
  CHECK(w.notes.outcome->kind == ExperimentEnd::Kind::interrupted);
}

TEST_CASE("runner: trials that all fail end the experiment") {
  World w(World::limits(1, std::nullopt));
  w.decider.answers_at_once = true;
  w.ready();
  for (int i = 0; i < TrialRunner::kHopelessFailures; ++i) {
    CHECK(w.decider.calls.back() != "close");
    w.end(job_id_of(i), Ending::failed);
    w.pump();
  }
  CHECK(w.decider.calls.back() == "close");
  w.closed();
  CHECK(w.notes.outcome->kind == ExperimentEnd::Kind::failed);
  CHECK(w.notes.outcome->reason.find(
            "all 5 trials failed; the last one with exit code 1. /nowhere/t0004") == 0);
}

TEST_CASE("runner: trials that all end well and say nothing end the experiment") {
  World w(World::limits(1, std::nullopt));
  w.decider.answers_at_once = true;
  w.ready();
  const bool other = GENERATE(false, true);  // a number of another name is no result, either
  CAPTURE(other);
  for (int i = 0; i < TrialRunner::kHopelessFailures; ++i) {
    CHECK(w.decider.calls.back() != "close");
    if (other) w.report(job_id_of(i), json{{"accuracy", 0.5}});
    w.end(job_id_of(i));
    w.pump();
  }
  CHECK(w.decider.calls.back() == "close");
  w.closed();
  CHECK(w.notes.outcome->kind == ExperimentEnd::Kind::failed);
  CHECK_THAT(w.notes.outcome->reason,
             Contains("5 trials have ended well, but none has a result") && Contains("FINAL"));
  CHECK((w.notes.outcome->reason.find("metric: accuracy") != std::string::npos) == other);
}

TEST_CASE("runner: one result, or a bad one, and trials that say nothing are only that") {
  World w(World::limits(1, std::nullopt));
  w.decider.answers_at_once = true;
  w.ready();
  const bool bad = GENERATE(false, true);  // not a number is an answer: the configuration diverges
  CAPTURE(bad);
  for (int i = 0; i < 3 * TrialRunner::kHopelessFailures; ++i) {
    if (bad || i == 3) w.report(job_id_of(i), bad ? NAN : 1.0);
    w.end(job_id_of(i));
    w.pump();
  }
  CHECK(w.decider.calls.back() != "close");
}

TEST_CASE("runner: one success, and failures are only failures") {
  World w(World::limits(1, std::nullopt));
  w.decider.answers_at_once = true;
  w.ready();
  w.report("t0000", 1);
  w.end("t0000");
  w.pump();
  for (int i = 1; i < 20; ++i) {
    w.end(job_id_of(i), Ending::failed);
    w.pump();
  }
  CHECK(w.notes.tally.failed == 19);
  CHECK(w.notes.tally.running == 1);
}

TEST_CASE("runner: a decider that dies ends the experiment, and is asked nothing more") {
  World w;
  const bool before_ready = GENERATE(true, false);
  if (before_ready) {
    w.runner.start();
  } else {
    w.ready();
    w.propose();
    w.decider.take();
  }
  w.runner.on_failure({"attuned ended early"});
  w.pump();
  if (!before_ready) {
    CHECK_FALSE(w.runner.done());
    w.report("t0000", 1);
    w.end("t0000", Ending::stopped);
    w.pump();
  }
  REQUIRE(w.runner.done());
  CHECK(w.decider.take().empty());
  CHECK(w.notes.outcome->kind == ExperimentEnd::Kind::failed);
  CHECK(w.notes.outcome->reason == "attuned ended early");
}

TEST_CASE("runner: a trial that cannot be started is tried again for a while") {
  World w;
  w.ready();
  w.backend.start_error = "no more processes";
  w.propose();
  CHECK(w.notes.all["t0000"].status == TrialStatus::pending);
  CHECK(w.runner.next_deadline() == 2);
  CHECK_THAT(w.runner.table().why_waits(*w.runner.table().in(TrialStatus::pending).at(0)),
             Contains("tried again in 2.0 s") && Contains("no more processes"));
  for (int i = 0; i < 299; ++i) {
    w.clock.advance(2);
    w.pump();
  }
  CHECK(w.notes.all["t0000"].status == TrialStatus::pending);
  CHECK(w.notes.warnings.size() == 1);
  w.clock.advance(2);
  SECTION("in the end it can, and nothing has happened") {
    w.backend.start_error.clear();
    w.pump();
    CHECK(w.notes.all["t0000"].status == TrialStatus::running);
    CHECK(w.notes.all["t0000"].failures == 0);
    CHECK(w.backend.started.at(0).attempt == 0);
  }
  SECTION("ten minutes are enough") {
    w.decider.take();
    w.pump();
    CHECK(w.notes.all["t0000"].status == TrialStatus::failed);
    CHECK_THAT(w.notes.all["t0000"].reason, Contains("no more processes"));
    CHECK(w.decider.take() == Calls{"error t0000", "next 1"});
    CHECK(w.runner.table().pool().committed() == Resources{});
  }
}

TEST_CASE("runner: what cannot be remembered is not started, and ends the experiment") {
  World w;
  w.ready();
  w.notes.error = "no space left";
  w.propose();
  CHECK(w.backend.started.empty());
  CHECK(w.decider.calls.back() == "close");
  w.closed();
  CHECK(w.notes.outcome->kind == ExperimentEnd::Kind::failed);
  CHECK_THAT(w.notes.outcome->reason, Contains("no space left"));
}

TEST_CASE("runner: nothing is fetched while the decider is congested") {
  World w;
  w.ready();
  w.propose();
  w.decider.full = true;
  w.report("t0000", 1, false);
  w.decider.take();
  w.pump();
  CHECK(w.decider.take().empty());
  CHECK(w.backend.events.size() == 1);
  w.decider.full = false;
  w.runner.pump();
  CHECK(w.decider.take() == Calls{"result t0000 ok"});
}

TEST_CASE("runner: reports that would mislead the decider are kept from it") {
  World w;
  w.ready();
  w.propose();
  w.decider.take();
  w.report("t0000", 1, true, "ok", ParameterId(std::int64_t{5}));
  w.report("t0077", 1);  // not running
  w.backend.events.push_back(TrialProblem{"t0000", "something is odd"});
  w.pump();
  CHECK(w.decider.take().empty());
  REQUIRE(w.notes.warnings.size() == 2);
  CHECK_THAT(w.notes.warnings[0], Contains("parameter_id 5"));
  CHECK(w.notes.warnings[1] == "trial t0000: something is odd");
}

}  // namespace attune::trial_runner_test
