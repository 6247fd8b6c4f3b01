// What time does to tasks while somebody is away, and what is made of words that come late.
#include <catch2/catch.hpp>

#include "tests/cluster/pool/coordinator_world.h"

namespace attune::coordinator_away_test {

using namespace attune::test;
using Lines = std::vector<std::string>;

// A task that runs on w, and the worker that has it.
struct Running : World {
  explicit Running(TaskLimits limits) {
    coordinator.begin(now);
    TaskSpec spec = trial_task("a");
    spec.limits = limits;
    REQUIRE(coordinator.worker_joined(worker_hello("w"), now));
    REQUIRE(coordinator.submit(spec, now));
    start("a");
    effects.take();
  }
  void join(const std::string& incarnation, bool with_task) {
    WorkerHello hello = worker_hello("w", 1, incarnation);
    if (with_task) hello.running = {held("a")};
    REQUIRE(coordinator.worker_joined(hello, now));
  }
};

TEST_CASE("away: a worker that is cut off is not a task that is silent") {
  Running w({.silent = 10, .attempts = 2});
  w.coordinator.worker_lost("w", w.now);
  w.pass(12);  // of the 15 that it has
  CHECK(w.task("a").state == TaskState::running);
  w.join("1", true);
  CHECK(w.task("a").state == TaskState::running);
  w.pass(9);
  CHECK(w.task("a").state == TaskState::running);
  w.pass(2);  // it counts from its return
  CHECK(w.task("a").state == TaskState::closing);
}

TEST_CASE(
    "away: after a restart of the coordinator workers have time to come before limits count") {
  World w;
  w.coordinator.begin(w.now);
  TaskSpec waits = trial_task("waits"), closes = trial_task("closes");
  waits.limits.queue = 60;
  REQUIRE(w.coordinator.worker_joined(worker_hello("w"), w.now));
  REQUIRE(w.coordinator.submit(closes, w.now));
  REQUIRE(w.coordinator.submit(waits, w.now));
  w.start("closes");
  w.coordinator.cancel("closes", "stop", "", w.now);
  w.now += 100;
  auto next = w.restarted();
  REQUIRE(next);
  next->now = w.now;
  next->pass(14);
  CHECK(next->task("waits").state == TaskState::queued);
  CHECK(next->task("closes").state == TaskState::closing);
  SECTION("they have come") {
    WorkerHello hello = worker_hello("w");
    hello.running = {next->held("closes")};
    REQUIRE(next->coordinator.worker_joined(hello, next->now));
    next->finish("closes", TaskState::cancelled);
    CHECK(next->task("waits").state == TaskState::leased);
  }
  SECTION("they have not") {
    next->pass(1);
    CHECK(next->task("waits").state == TaskState::failed);
    CHECK(next->task("closes").state == TaskState::cancelled);
  }
}

TEST_CASE("away: a draining worker that comes back gets nothing new, and goes") {
  Running w({});
  w.coordinator.worker_drains("w", w.now);
  w.coordinator.worker_lost("w", w.now);
  REQUIRE(w.coordinator.submit(trial_task("b"), w.now));
  WorkerHello hello = worker_hello("w", 2);
  hello.running = {w.held("a")};
  hello.draining = true;
  w.effects.take();
  REQUIRE(w.coordinator.worker_joined(hello, w.now));
  CHECK(w.effects.take().empty());
  CHECK(w.task("b").state == TaskState::queued);
  w.finish("a");
  CHECK(w.effects.take() == Lines{"w: dismiss", "w: end_ack a"});
}

TEST_CASE("away: a worker that is given up while it is here ends what it has, and goes") {
  Running w({});
  w.coordinator.worker_unavailable("w", "its job is cancelled", w.now);
  CHECK(w.effects.take() == Lines{"w: cancel a kill", "w: dismiss"});
  CHECK(w.task("a").state == TaskState::lost);
  CHECK(w.coordinator.workers().workers().empty());
}

TEST_CASE("away: what a lost worker has left running is ended when its name comes back") {
  Running w({.attempts = 2});
  w.coordinator.worker_lost("w", w.now);
  w.pass(15);
  REQUIRE(w.task("a").state == TaskState::queued);
  w.effects.take();
  SECTION("another process, which does not know of it") {
    w.join("2", false);
    CHECK(w.effects.take() == Lines{"w: lease a running attempt 0 again", "w: cancel a kill",
                                    "w: lease a leased attempt 1"});
  }
  SECTION("the same one") {
    WorkerHello hello = worker_hello("w");
    hello.running = {w.held("a")};
    REQUIRE(w.coordinator.worker_joined(hello, w.now));
    CHECK(w.effects.take() == Lines{"w: cancel a kill", "w: lease a leased attempt 1"});
  }
  w.coordinator.worker_lost("w", w.now);
  w.effects.take();
  w.join("3", true);
  CHECK(w.effects.take().empty());  // once
}

TEST_CASE("away: what a lost worker may not have begun is not begun when its name comes back") {
  World w;
  w.coordinator.begin(w.now);
  TaskSpec spec = trial_task("a");
  spec.limits.attempts = 2;
  REQUIRE(w.coordinator.worker_joined(worker_hello("w"), w.now));
  REQUIRE(w.coordinator.submit(spec, w.now));
  w.coordinator.worker_lost("w", w.now);
  w.pass(15);
  w.effects.take();
  REQUIRE(w.coordinator.worker_joined(worker_hello("w", 1, "2"), w.now));
  CHECK(w.effects.take() == Lines{"w: lease a running attempt 0 again", "w: cancel a kill",
                                  "w: lease a leased attempt 1"});
}

TEST_CASE("away: what has run, and is refused then, was an attempt") {
  SECTION("the only one") {
    Running w({});
    w.coordinator.worker_lost("w", w.now);
    w.join("2", false);
    CHECK(w.effects.take() == Lines{"w: lease a running attempt 0 again"});
    w.coordinator.refused("w", w.held("a"), "not mounted", w.now);
    CHECK(w.task("a").state == TaskState::lost);
    CHECK(w.task("a").cause == "worker w cannot run it: not mounted");
  }
  SECTION("one of two") {
    Running w({.attempts = 2});
    w.coordinator.worker_lost("w", w.now);
    w.join("2", false);
    w.coordinator.refused("w", w.held("a"), "not mounted", w.now);
    CHECK(w.task("a").state == TaskState::queued);
    CHECK(w.task("a").attempt == 1);
  }
  SECTION("also when nobody heard that it had begun") {
    World w;
    w.coordinator.begin(w.now);
    REQUIRE(w.coordinator.worker_joined(worker_hello("w"), w.now));
    REQUIRE(w.coordinator.submit(trial_task("a"), w.now));
    w.coordinator.worker_lost("w", w.now);
    REQUIRE(w.coordinator.worker_joined(worker_hello("w", 1, "2"), w.now));
    w.coordinator.refused("w", w.held("a"), "not mounted", w.now);
    CHECK(w.task("a").state == TaskState::lost);
  }
  SECTION("while it is told to end for the next one") {
    Running w({.silent = 5, .attempts = 2});
    w.pass(6);
    REQUIRE(w.task("a").state == TaskState::closing);
    w.coordinator.refused("w", w.held("a"), "not mounted", w.now);
    CHECK(w.task("a").state == TaskState::queued);
    CHECK(w.task("a").attempt == 1);
  }
}

TEST_CASE("away: what is said under a lease that is over is acknowledged as nobody else will") {
  Running w({});
  const HeldLease held = w.held("a");
  w.coordinator.worker_lost("w", w.now);
  w.pass(15);
  REQUIRE(w.task("a").state == TaskState::lost);
  w.effects.take();
  w.coordinator.info("w", held, 7, 1, 1, w.now);
  CHECK(w.effects.take() == Lines{"w: cancel a kill", "w: info_ack a 7"});
}

TEST_CASE("away: a worker has time to begin before a task counts as silent") {
  World w;
  w.coordinator.begin(w.now);
  TaskSpec spec = trial_task("a");
  spec.limits = {.silent = 10, .attempts = 2};
  REQUIRE(w.coordinator.worker_joined(worker_hello("w"), w.now));
  REQUIRE(w.coordinator.submit(spec, w.now));
  w.pass(659);  // such as for an attempt that runs elsewhere
  CHECK(w.task("a").state == TaskState::leased);
  w.pass(1);
  CHECK(w.task("a").state == TaskState::closing);
  CHECK(w.task("a").cause == "nothing was heard of it for 660 s");
}

TEST_CASE("away: a task that fails again and again is begun later and later") {
  Running w({.attempts = 20});
  const double begun = w.now;
  std::vector<double> pauses;
  for (int attempt = 1; attempt < 12; ++attempt) {
    w.finish("a", TaskState::failed);
    const double failed = w.now;
    if (attempt == 4)
      CHECK(w.coordinator.why_waiting(w.task("a")) ==
            "attempt 4 begins 4 s after the last one has failed: cause");
    while (w.task("a").state == TaskState::queued) {
      REQUIRE(w.coordinator.next_time());
      w.now = *w.coordinator.next_time();
      w.coordinator.tick(w.now);
    }
    pauses.push_back(w.now - failed);
    w.start("a");
  }
  CHECK(pauses == std::vector<double>{0, 1, 2, 4, 8, 16, 32, 60, 60, 60, 60});
  SECTION("and another coordinator keeps the pause") {
    w.finish("a", TaskState::failed);
    w.now += 20;
    auto next = w.restarted();
    REQUIRE(next);
    next->now = w.now;
    REQUIRE(next->coordinator.worker_joined(worker_hello("w"), next->now));
    CHECK(next->task("a").state == TaskState::queued);
    next->pass(40);
    CHECK(next->task("a").state == TaskState::leased);
  }
  SECTION("and may be cancelled meanwhile") {
    w.finish("a", TaskState::failed);
    w.coordinator.cancel("a", "stop", "", w.now);
    CHECK(w.task("a").state == TaskState::cancelled);
    CHECK_FALSE(w.coordinator.next_time());
  }
  CHECK(w.now > begun);
}

}  // namespace attune::coordinator_away_test
