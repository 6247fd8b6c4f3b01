// The trial state machine, stepped by hand: no processes, no timers, no pipes.
#include "runner/experiment_loop.h"

#include <catch2/catch.hpp>

#include "tests/runner/scripted_world.h"

namespace attune {
namespace {

using Calls = std::vector<std::string>;

TEST_CASE("loop: a whole experiment, call by call") {
  World w;
  CHECK(w.decider.take().empty());  // nothing is asked before the decider is ready
  w.ready();
  CHECK(w.decider.take() == Calls{"next 2"});
  w.decider.propose();
  w.decider.propose();
  CHECK(w.decider.take() == Calls{"add t0000", "add t0001"});
  REQUIRE(w.backend.started.size() == 2);
  CHECK(w.backend.started[1].parameter_text == "text 1");
  CHECK(w.backend.started[1].sequence == 1);

  w.report("t0001", 0.25, false);
  w.report("t0001", 0.5);
  w.end("t0001");
  w.loop.pump();
  // The final metric before the end; one new trial for the one that ended.
  CHECK(w.decider.take() ==
        Calls{"result t0001 ok", "result t0001 ok", "complete t0001", "next 1"});
  w.decider.propose();
  CHECK(w.decider.take() == Calls{"add t0002"});
  w.end("t0000", false);
  w.loop.pump();
  CHECK(w.decider.take() == Calls{"error t0000"});  // maxTrialNumber: no more
  w.report("t0002", 0.75);
  w.end("t0002");
  w.loop.pump();
  CHECK(w.decider.take() == Calls{"result t0002 ok", "complete t0002", "close"});
  CHECK_FALSE(w.loop.done());
  w.loop.on_closed();
  REQUIRE(w.loop.done());
  CHECK(w.notes.outcome->kind == Outcome::Kind::completed);
  REQUIRE(w.notes.trials.size() == 3);
  CHECK(w.notes.trials[0].score() == 0.5);
  CHECK(w.notes.trials[0].intermediate == std::vector<json>{0.25});
  CHECK(w.notes.trials[1].status == TrialStatus::failed);
  CHECK(w.notes.trials[1].reason == "exit code 1");
  CHECK(w.notes.tally.succeeded == 2);
  CHECK(w.notes.tally.failed == 1);
}

TEST_CASE("loop: a decider that answers from inside next()") {
  World w({3, 10, {}, {}});
  w.decider.answers_at_once = true;
  w.ready();
  for (int i = 0; i < 10; ++i) {
    CHECK(w.notes.tally.running == std::min(3, 10 - i));
    w.report(job_id_of(i), i);
    w.end(job_id_of(i));
    w.loop.pump();
  }
  CHECK(w.decider.calls.back() == "close");
  CHECK(w.notes.tally.started == 10);
}

TEST_CASE("loop: a decision stops a trial, and later reports do not count") {
  World w;
  w.ready();
  w.decider.propose();
  w.report("t0000", 1, false, "bad");
  w.report("t0000", 2, false);
  w.report("t0000", 3);
  w.loop.pump();
  CHECK(w.backend.stopped == Calls{"t0000"});
  w.decider.listener->on_stop("t0000", "again");
  w.decider.listener->on_stop("t0099", "unknown");
  w.end("t0000", true);  // it ended well by itself meanwhile; the decision stands
  w.decider.take();
  w.loop.pump();
  CHECK(w.decider.take() == Calls{"remove t0000 early", "next 1"});
  CHECK(w.backend.stopped.size() == 1);
  REQUIRE(w.notes.trials.size() == 1);
  CHECK(w.notes.trials[0].status == TrialStatus::early_stopped);
  CHECK(w.notes.trials[0].reason == "it is bad");
  CHECK(w.notes.trials[0].final_metric.is_null());
}

TEST_CASE("loop: no more trials ends the experiment when nothing runs and nothing waits") {
  World w({2, std::nullopt, {}, {}});
  w.ready();
  w.decider.propose();
  w.loop.on_exhausted("");
  CHECK_FALSE(w.loop.done());
  w.report("t0000", 1);
  w.end("t0000");
  w.decider.take();
  w.loop.pump();
  // An end may have made new proposals possible: both free slots ask again.
  CHECK(w.decider.take() == Calls{"result t0000 ok", "complete t0000", "next 2"});
  SECTION("still none") {
    w.loop.on_exhausted("");
    CHECK(w.decider.take() == Calls{"close"});
  }
  SECTION("there are") {
    w.decider.propose();
    w.decider.propose();
    CHECK(w.notes.tally.running == 2);
  }
}

TEST_CASE("loop: an exhausted decider without any trial") {
  World w;
  w.ready();
  w.loop.on_exhausted("empty space");
  CHECK(w.decider.calls.back() == "close");
  w.loop.on_closed();
  CHECK(w.notes.outcome->kind == Outcome::Kind::failed);
  CHECK(w.notes.outcome->reason.find("no trial reported a final metric") != std::string::npos);
}

TEST_CASE("loop: more proposals than slots wait, and never exceed maxTrialNumber") {
  World w({1, 2, {}, {}});
  w.ready();
  for (int i = 0; i < 4; ++i) w.decider.propose();
  CHECK(w.notes.tally.started == 1);
  w.report("t0000", 1);
  w.end("t0000");
  w.loop.pump();
  CHECK(w.notes.tally.started == 2);
  w.end("t0001");
  w.loop.pump();
  CHECK(w.decider.calls.back() == "close");
}

TEST_CASE("loop: time limits") {
  World w({2, 10, 100.0, 30.0});
  CHECK(w.loop.next_deadline() == 100);
  w.ready();
  w.decider.propose();
  w.clock.advance(10);
  w.decider.propose();
  CHECK(w.loop.next_deadline() == 30);
  w.clock.advance(20);
  w.loop.tick();
  CHECK(w.backend.stopped == Calls{"t0000"});
  CHECK(w.loop.next_deadline() == 40);
  w.report("t0001", 5);
  w.end("t0000", false);
  w.loop.pump();
  CHECK(w.notes.trials[0].status == TrialStatus::early_stopped);
  CHECK(w.notes.trials[0].reason == "maxTrialDuration is over");
  w.decider.propose();
  w.end("t0001");
  w.loop.pump();
  w.clock.advance(70);
  w.decider.take();
  w.loop.tick();
  CHECK(w.backend.stopped.back() == "t0002");
  w.decider.propose();  // too late
  w.end("t0002", false);
  w.loop.pump();
  CHECK(w.decider.take() == Calls{"remove t0002 user", "close"});
  CHECK(w.notes.trials.back().status == TrialStatus::user_canceled);
  w.loop.on_closed();
  CHECK(w.notes.outcome->kind == Outcome::Kind::completed);
  CHECK_FALSE(w.loop.next_deadline().has_value());
}

TEST_CASE("loop: an interrupt stops in order, a second one kills") {
  World w;
  w.ready();
  w.decider.propose();
  w.decider.take();
  w.loop.interrupt("interrupted by SIGINT");
  CHECK(w.backend.stopped == Calls{"t0000"});
  CHECK(w.decider.take().empty());
  SECTION("once") {
    w.end("t0000", false);
    w.loop.pump();
    CHECK(w.decider.take() == Calls{"remove t0000 user", "close"});
    w.loop.on_closed();
  }
  SECTION("twice") {
    w.loop.interrupt("again");
    CHECK(w.backend.killed);
    CHECK(w.decider.take() == Calls{"kill"});
    w.end("t0000", false);
    w.loop.pump();
    CHECK(w.decider.take().empty());
    CHECK(w.notes.trials.size() == 1);
  }
  REQUIRE(w.loop.done());
  CHECK(w.notes.outcome->kind == Outcome::Kind::interrupted);
}

TEST_CASE("loop: trials that all fail end the experiment") {
  World w({1, std::nullopt, {}, {}});
  w.decider.answers_at_once = true;
  w.ready();
  for (int i = 0; i < ExperimentLoop::kHopelessFailures; ++i) {
    CHECK(w.decider.calls.back() != "close");
    w.end(job_id_of(i), false);
    w.loop.pump();
  }
  CHECK(w.decider.calls.back() == "close");
  w.loop.on_closed();
  CHECK(w.notes.outcome->kind == Outcome::Kind::failed);
  CHECK(w.notes.outcome->reason.find(
            "all 5 trials failed; the last one with exit code 1. /nowhere/t0004") == 0);
}

TEST_CASE("loop: one success, and failures are only failures") {
  World w({1, std::nullopt, {}, {}});
  w.decider.answers_at_once = true;
  w.ready();
  w.report("t0000", 1);
  w.end("t0000");
  w.loop.pump();
  for (int i = 1; i < 20; ++i) {
    w.end(job_id_of(i), false);
    w.loop.pump();
  }
  CHECK(w.notes.tally.failed == 19);
  CHECK(w.notes.tally.running == 1);
}

TEST_CASE("loop: a decider that dies ends the experiment, and is asked nothing more") {
  World w;
  const bool before_ready = GENERATE(true, false);
  if (!before_ready) {
    w.ready();
    w.decider.propose();
    w.decider.take();
  }
  w.loop.on_failure({"attuned ended early"});
  if (!before_ready) {
    CHECK_FALSE(w.loop.done());
    w.report("t0000", 1);
    w.end("t0000", false);
    w.loop.pump();
  }
  REQUIRE(w.loop.done());
  CHECK(w.decider.take().empty());
  CHECK(w.notes.outcome->kind == Outcome::Kind::failed);
  CHECK(w.notes.outcome->reason == "attuned ended early");
}

TEST_CASE("loop: a trial that cannot be started, results that cannot be kept") {
  World w;
  w.ready();
  SECTION("start") {
    w.backend.start_error = "no space left";
    w.decider.propose();
  }
  SECTION("keep") {
    w.decider.propose();
    w.notes.error = "no space left";
    w.end("t0000");
    w.loop.pump();
  }
  CHECK(w.decider.calls.back() == "close");
  w.loop.on_closed();
  CHECK(w.notes.outcome->kind == Outcome::Kind::failed);
  CHECK(w.notes.outcome->reason.find("no space left") != std::string::npos);
}

TEST_CASE("loop: nothing is fetched while the decider is congested") {
  World w;
  w.ready();
  w.decider.propose();
  w.decider.full = true;
  w.report("t0000", 1, false);
  w.decider.take();
  w.loop.pump();
  CHECK(w.decider.take().empty());
  CHECK(w.backend.events.size() == 1);
  w.decider.full = false;
  w.loop.on_room();
  CHECK(w.decider.take() == Calls{"result t0000 ok"});
}

TEST_CASE("loop: reports that would mislead the decider are kept from it") {
  World w;
  w.ready();
  w.decider.propose();
  w.decider.take();
  w.report("t0000", 1, true, "ok", ParameterId(std::int64_t{5}));
  w.report("t0077", 1);  // not running
  w.backend.events.push_back(TrialProblem{"t0000", "something is odd"});
  w.loop.pump();
  CHECK(w.decider.take().empty());
  REQUIRE(w.notes.warnings.size() == 2);
  CHECK(w.notes.warnings[0].find("parameter_id 5") != std::string::npos);
  CHECK(w.notes.warnings[1] == "trial t0000: something is odd");
}

}  // namespace
}  // namespace attune
