// What people hear of tasks that wait.
#include <catch2/catch.hpp>

#include "base/rng.h"
#include "cluster/pool/messages.h"
#include "tests/cluster/pool/coordinator_world.h"

namespace attune::coordinator_waiting_test {

using namespace attune::test;

std::string cause(const World& w, const std::string& id) {
  return state_message(w.task(id), w.now)["cause"];
}

TEST_CASE("waiting: clients hear after a while that no worker may have it and when one may") {
  World w;
  w.coordinator.begin(w.now);
  REQUIRE(w.coordinator.worker_joined(worker_hello("v", 2), w.now));
  TaskSpec labelled = trial_task("labelled");
  labelled.labels = {"fast"};
  REQUIRE(w.coordinator.submit(labelled, w.now));
  for (const char* id : {"large", "like"}) REQUIRE(w.coordinator.submit(trial_task(id, 16), w.now));
  w.pass(4);
  CHECK(cause(w, "large").empty());
  w.effects.take(true);
  w.pass(1);
  CHECK(cause(w, "large") == "no worker may have it: v has 2 of 16 cpu");
  CHECK(cause(w, "like") == cause(w, "large"));
  CHECK(cause(w, "labelled") == "no worker may have it: v has no label fast");
  CHECK(w.effects.take(true).size() == 3);
  w.pass(60);
  CHECK(w.effects.take(true).empty());  // said once

  REQUIRE(w.coordinator.worker_joined(worker_hello("w", 4), w.now));
  w.pass(0);
  CHECK(cause(w, "large") == "no worker may have it: v has 2 of 16 cpu, w has 4 of 16 cpu");
  REQUIRE(w.coordinator.worker_joined(worker_hello("x", 16), w.now));
  w.pass(0);
  CHECK(w.task("large").state == TaskState::leased);
  CHECK(cause(w, "like").empty());
}

TEST_CASE("waiting: a worker that is cut off is not missed at once") {
  World w;
  w.coordinator.begin(w.now);
  REQUIRE(w.coordinator.worker_joined(worker_hello("w"), w.now));
  for (const char* id : {"a", "b"}) REQUIRE(w.coordinator.submit(trial_task(id), w.now));
  w.coordinator.worker_lost("w", w.now);
  w.pass(10);
  CHECK(cause(w, "b").empty());
  w.pass(5);  // it is given up
  CHECK(w.coordinator.why_waiting(w.task("b")) == "there is no worker");
  w.pass(15);
  CHECK(cause(w, "b") == "there is no worker");
}

TEST_CASE("waiting: what a worker lacks is said exactly when it may not have a task") {
  Rng rng(5);
  for (int i = 0; i < 3000; ++i) {
    const auto amount = [&] { return static_cast<double>(rng.index(3)); };
    const auto some = [&](std::vector<std::string> all) {
      std::erase_if(all, [&](const auto&) { return rng.index(2) == 0; });
      return all;
    };
    Worker worker;
    worker.hello = worker_hello(rng.index(2) == 0 ? "v" : "w", amount());
    worker.hello.capacity.gpu = amount();
    worker.hello.capacity.memory = amount();
    worker.hello.capacity.custom["licence"] = amount();
    worker.hello.labels = some({"fast", "large"});
    worker.hello.kinds = some({"trial", "learn"});
    if (rng.index(3) == 0) worker.refused.insert("c");
    TaskSpec task = trial_task("t", amount());
    task.needs.gpu = amount();
    task.needs.memory = amount();
    task.needs.custom["licence"] = amount();
    task.labels = some({"fast", "large"});
    if (rng.index(2) == 0) task.worker = "v";
    CHECK(obstacle(worker, task).empty() == may_have(worker, task));
  }
}

}  // namespace attune::coordinator_waiting_test
