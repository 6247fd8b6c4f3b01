// Where trials run, and since when.
#include <catch2/catch.hpp>

#include "tests/manager/trials/scripted_world.h"

namespace attune::trial_runner_place_test {

using Calls = std::vector<std::string>;

TEST_CASE("runner: time in which a trial waits for the backend is none of its own") {
  RunnerOptions options = World::limits(2, 10);
  options.max_trial_seconds = 30;
  World w(options);
  w.clock.advance(1000);
  w.ready();
  w.propose();
  w.propose();
  w.backend.events.push_back(TrialPlace{"t0000", "waits for a worker", 0});
  w.pump();
  CHECK(w.notes.all["t0000"].status == TrialStatus::running);
  CHECK(w.notes.all["t0000"].reason == "waits for a worker");
  CHECK(w.notes.tally.running == 2);
  CHECK(w.notes.tally.waiting == 1);
  w.clock.advance(40);
  w.pump();
  CHECK(w.backend.stopped == Calls{"t0001"});

  w.backend.events.push_back(TrialPlace{"t0000", "", 5, "w7", "node3"});
  w.pump();
  CHECK(w.notes.places == Calls{"t0000 on w7"});
  CHECK(w.notes.all["t0000"].start_time == w.clock.wall() - 5);
  CHECK(w.notes.all["t0000"].reason.empty());
  CHECK(w.notes.tally.waiting == 0);
  CHECK(w.runner.next_deadline().value() == Approx(w.clock.now() + 25));

  // It is lost, and waits again.
  w.backend.events.push_back(TrialPlace{"t0000", "waits for a worker", 0});
  w.pump();
  CHECK_FALSE(w.runner.next_deadline().has_value());
  w.end("t0000");
  w.pump();
  CHECK(w.notes.tally.waiting == 0);
}

TEST_CASE("runner: the GPUs of a trial are stored") {
  World w(World::limits(1, 10));
  w.ready();
  w.propose();
  w.backend.events.push_back(TrialPlace{.job_id = "t0000", .waits_for = "", .gpus = "0,2"});
  w.pump();
  CHECK(w.notes.places == Calls{"t0000 on gpu 0,2"});
}

TEST_CASE("runner: an attempt does not begin behind the decision about it") {
  World w(World::limits(1, 10));
  w.clock.advance(1000);
  w.ready();
  w.propose();
  w.backend.events.push_back(TrialPlace{"t0000", "waits for a worker", 0});
  w.pump();
  w.clock.advance(10);
  const double wall = w.clock.wall();
  SECTION("which was taken while it waited") {
    REQUIRE(w.runner.stop_trial("t0000", "so"));
    w.backend.events.push_back(TrialPlace{"t0000", "", 0, "w7", "node3"});
    w.pump();
    CHECK(w.notes.began == std::vector<double>{0});
    CHECK(w.notes.all["t0000"].start_time == wall - 10);
  }
  SECTION("or later") {
    w.backend.events.push_back(TrialPlace{"t0000", "", 4, "w7", "node3"});
    w.pump();
    CHECK(w.notes.began == std::vector<double>{wall - 4});
    CHECK(w.notes.all["t0000"].start_time == wall - 4);
  }
}

}  // namespace attune::trial_runner_place_test
