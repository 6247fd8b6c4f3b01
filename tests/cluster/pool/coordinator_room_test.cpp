// Large tasks beside small ones that come and go.
#include <catch2/catch.hpp>

#include "tests/cluster/pool/coordinator_world.h"

namespace attune::coordinator_room_test {

using namespace test;

using Lines = std::vector<std::string>;

// Two workers of two processors each, which are never empty at the same time, and a task for a
// whole one.
struct Crowd : World {
  Crowd() {
    coordinator.begin(now);
    for (const char* id : {"v", "w"}) REQUIRE(coordinator.worker_joined(worker_hello(id, 2), now));
    for (int i = 0; i < 4; ++i) submit(fmt::format("s{}", i));
    submit("large", 2);
    effects.take();
  }
  void submit(const std::string& id, double cpu = 1, std::int64_t priority = 0) {
    TaskSpec spec = trial_task(id, cpu);
    spec.priority = priority;
    REQUIRE(coordinator.submit(spec, now));
  }
  // One small task after the other ends, and another one comes. Whether the large one began.
  bool crowd(int seconds) {
    for (int i = 0; i < seconds; ++i) {
      submit(fmt::format("s{}", small++));
      const std::string oldest = fmt::format("s{}", done++);
      if (task(oldest).state != TaskState::queued) finish(oldest);
      pass(1);
      if (task("large").state != TaskState::queued) return true;
    }
    return false;
  }
  int small = 4, done = 0;
};

TEST_CASE("room: a large task gets a worker to itself when it has waited long enough") {
  Crowd w;
  CHECK_FALSE(w.crowd(29));
  CHECK(w.coordinator.why_waiting(w.task("large")) ==
        "all workers that may have it are busy, or cannot be heard");
  CHECK_FALSE(w.crowd(1));
  CHECK_THAT(w.coordinator.why_waiting(w.task("large")),
             Catch::Contains("is kept for it, and still has something else to do"));
  CHECK(w.crowd(5));
  // The others go on, on that worker, too, when it has ended.
  const std::string worker = w.task("large").worker;
  w.effects.take();
  w.submit("a");
  w.submit("b");
  w.finish("large");
  CHECK(w.effects.take().size() >= 2);
  CHECK(w.coordinator.workers().workers().at(worker).tasks.size() == 2);
}

TEST_CASE("room: what is more important goes before") {
  Crowd w;
  CHECK_FALSE(w.crowd(30));
  w.submit("urgent", 1, 1);
  w.finish(fmt::format("s{}", w.done));
  CHECK(w.task("urgent").state == TaskState::leased);
}

TEST_CASE("room: the first of those that want the same has it") {
  World w;
  w.coordinator.begin(w.now);
  const auto submit = [&](const std::string& id, double cpu) {
    TaskSpec spec = trial_task(id, cpu);
    spec.limits.attempts = 2;
    REQUIRE(w.coordinator.submit(spec, w.now));
  };
  REQUIRE(w.coordinator.worker_joined(worker_hello("u", 2), w.now));
  submit("early", 2);
  w.coordinator.worker_drains("u", w.now);
  REQUIRE(w.coordinator.worker_joined(worker_hello("v", 2), w.now));
  submit("small", 1);
  submit("late", 2);
  w.pass(30);
  REQUIRE(w.coordinator.workers().workers().at("v").kept_for->id == "late");
  w.coordinator.worker_unavailable("u", "it has left",
                                   w.now);  // "early" waits again, and is before "late"
  w.finish("small");
  CHECK(w.task("early").state == TaskState::leased);
  CHECK(w.task("late").state == TaskState::queued);
  w.finish("early");
  CHECK(w.task("late").state == TaskState::leased);
}

TEST_CASE("room: it is given back when the task is cancelled or the worker goes") {
  Crowd w;
  CHECK_FALSE(w.crowd(30));
  const auto kept = [&]() -> std::string {
    for (const auto& [id, worker] : w.coordinator.workers().workers())
      if (worker.kept_for) return id;
    return "";
  };
  const std::string first = kept();
  REQUIRE_FALSE(first.empty());
  SECTION("cancelled") {
    w.finish(std::string(*w.coordinator.workers().workers().at(first).tasks.begin()));
    w.submit("a");
    CHECK(w.task("a").state == TaskState::queued);
    w.coordinator.cancel("large", "stop", "", w.now);
    CHECK(w.task("a").state == TaskState::leased);
  }
  SECTION("gone") {
    w.coordinator.worker_unavailable(first, "it has left", w.now);
    CHECK(kept().empty());
    w.pass(30);
    CHECK_FALSE(kept().empty());
  }
}

TEST_CASE("room: a task that no worker may have keeps nobody") {
  World w;
  w.coordinator.begin(w.now);
  REQUIRE(w.coordinator.worker_joined(worker_hello("w", 2), w.now));
  REQUIRE(w.coordinator.submit(trial_task("huge", 64), w.now));
  w.pass(30);
  REQUIRE(w.coordinator.submit(trial_task("a"), w.now));
  CHECK(w.task("a").state == TaskState::leased);
}

TEST_CASE("room: a worker is not kept for what it has refused") {
  World w;
  w.coordinator.begin(w.now);
  REQUIRE(w.coordinator.worker_joined(worker_hello("w", 4), w.now));
  REQUIRE(w.coordinator.submit(trial_task("small", 1), w.now));
  REQUIRE(w.coordinator.submit(trial_task("large", 4), w.now));
  w.pass(31);
  REQUIRE(w.coordinator.workers().workers().at("w").kept_for);
  TaskSpec other = trial_task("other", 1);
  other.client = "d";
  REQUIRE(w.coordinator.submit(other, w.now));
  REQUIRE(w.task("other").state == TaskState::queued);
  w.coordinator.refused("w", w.held("small"), "the folder is gone", w.now);
  w.coordinator.tick(w.coordinator.next_time().value_or(0));
  CHECK(w.task("other").state == TaskState::leased);
}

}  // namespace attune::coordinator_room_test
