// A manager whose memory fails: what it does must not be forgotten.
#include <catch2/catch.hpp>

#include "tests/manager/trials/scripted_world.h"

namespace attune::trial_runner_stall_test {

using Calls = std::vector<std::string>;
using Catch::Matchers::Contains;

TEST_CASE("stall: nothing is started until what happens can be remembered") {
  World w(World::limits(2, 10));
  w.ready();
  w.propose();
  REQUIRE(w.backend.started.size() == 1);
  w.notes.trouble = "the disk is full";
  w.propose();
  CHECK(w.backend.started.size() == 1);
  CHECK(w.notes.warnings.size() == 1);
  CHECK_THAT(w.notes.warnings[0], Contains("the disk is full"));
  CHECK(w.notes.all["t0001"].status == TrialStatus::pending);
  // What trials report stays with them.
  w.report("t0000", 1);
  w.end("t0000");
  w.pump();
  CHECK(w.notes.all["t0000"].status == TrialStatus::running);
  CHECK(w.runner.next_deadline().value() == Approx(w.clock.now() + 1));

  w.notes.trouble.clear();
  w.pump();
  CHECK(w.backend.started.size() == 1);  // it is not tried more than once a second
  w.clock.advance_to(w.clock.now() + 1);
  w.pump();
  CHECK(w.backend.started.size() == 2);
  CHECK(w.notes.all["t0000"].status == TrialStatus::succeeded);
  CHECK(w.notes.all["t0001"].attempts == 1);
  CHECK(w.notes.notices.size() == 1);
  CHECK(w.notes.warnings.size() == 1);
}

TEST_CASE("stall: one that lasts ends the experiment, and stops no trial") {
  World w(World::limits(2, 10));
  w.ready();
  w.propose();
  w.notes.trouble = "the disk is full: make room";
  SECTION("by itself") {
    w.pump();
    for (int i = 0; i < 601; ++i) {
      w.clock.advance_to(w.clock.now() + 1);
      w.pump();
    }
  }
  SECTION("for good") {
    w.notes.error = "the disk is full: make room";
    w.pump();
  }
  w.closed();
  REQUIRE(w.notes.outcome.has_value());
  CHECK(w.notes.outcome->kind == ExperimentEnd::Kind::failed);
  CHECK_THAT(w.notes.outcome->reason, Contains("make room") && Contains("no trial was stopped") &&
                                          Contains("attune resume"));
  CHECK(w.backend.stopped.empty());
  CHECK_FALSE(w.backend.killed);
}

TEST_CASE("stall: an experiment that is over ends when it is kept how its trials have ended") {
  World w(World::limits(1, 1));
  w.ready();
  w.propose();
  w.report("t0000", 1);
  w.notes.trouble = "another process writes";
  w.end("t0000");
  w.pump();
  w.closed();
  CHECK_FALSE(w.runner.done());
  CHECK(w.runner.next_deadline().value() == Approx(w.clock.now() + 1));
  SECTION("when that can be written") {
    w.notes.trouble.clear();
    w.clock.advance_to(w.clock.now() + 1);
  }
  SECTION("or when it has waited for long enough") {
    for (int i = 0; i < 601; ++i) {
      w.clock.advance_to(w.clock.now() + 1);
      w.pump();
    }
  }
  SECTION("or when nobody wants to wait") { w.runner.interrupt("SIGINT"); }
  w.pump();
  CHECK(w.runner.done());
  CHECK(w.notes.outcome->kind == ExperimentEnd::Kind::completed);
}

TEST_CASE("stall: an interrupted experiment leaves its trials, which nobody could remember") {
  World w(World::limits(1, 10));
  w.ready();
  w.propose();
  w.notes.trouble = "the disk is full";
  w.pump();
  w.runner.interrupt("SIGINT");
  w.pump();
  w.closed();
  CHECK(w.notes.outcome->kind == ExperimentEnd::Kind::interrupted);
  CHECK(w.backend.stopped.empty());
}

// A checkpoint of its one trial is saved; then nothing more can be stored.
void save_then_stall(World& w) {
  w.ready();
  w.propose();
  w.runner.on_save("t0000");
  w.pump();
  w.notes.trouble = "the disk is full";
}

TEST_CASE("stall: a checkpoint is deleted once it is kept that it is") {
  World w(World::limits(1, 10));
  save_then_stall(w);
  w.runner.on_save("t0000");
  w.runner.wake();
  REQUIRE(w.runner.step().has_value());
  w.runner.on_drop("t0000-1");
  w.runner.pump();
  CHECK(w.backend.deleted.empty());
  w.notes.trouble.clear();
  w.clock.advance_to(w.clock.now() + 1);
  w.pump();
  CHECK(w.backend.deleted == Calls{"t0000-1"});
}

TEST_CASE("stall: a trial is stopped or paused once it is kept that it is") {
  World w(World::limits(2, 10));
  w.ready();
  w.decider.propose();
  w.propose();
  CHECK(w.runner.takes_requests().has_value());
  w.notes.trouble = "the disk is full";
  w.runner.on_stop("t0000", "it is bad");
  w.runner.on_pause("t0001", "others first");
  w.pump();
  CHECK(w.backend.stopped.empty());
  CHECK(w.backend.paused.empty());
  CHECK_FALSE(w.runner.takes_requests().has_value());
  w.notes.trouble.clear();
  w.clock.advance_to(w.clock.now() + 1);
  w.pump();
  CHECK(w.backend.stopped == Calls{"t0000"});
  CHECK(w.backend.paused == Calls{"t0001"});
  w.runner.interrupt("SIGINT");
  for (const char* job : {"t0000", "t0001"}) w.end(job, Ending::stopped);
  w.pump();
  const auto refused = w.runner.takes_requests();  // the decider has been told that it is over
  REQUIRE_FALSE(refused.has_value());
  CHECK_THAT(refused.error().message, Contains("attune resume first"));
}

TEST_CASE("stall: a checkpoint stays when the end of the experiment cannot be kept") {
  World w(World::limits(1, 10));
  save_then_stall(w);
  w.runner.on_drop("t0000-1");
  w.pump();
  w.runner.interrupt("SIGINT");
  w.pump();
  w.closed();
  REQUIRE(w.notes.outcome.has_value());
  CHECK(w.backend.deleted.empty());
}

}  // namespace attune::trial_runner_stall_test
