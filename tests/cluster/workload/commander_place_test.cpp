// What is due gets a place, although collectors fill the workers and never end by themselves.
#include <catch2/catch.hpp>

#include "tests/cluster/workload/commander_helpers.h"

namespace attune::commander_place_test {

using namespace attune::test;
using Ids = std::vector<std::string>;

Ids waiting(const World& world) {
  Ids ids;
  for (const std::string& id : live_tasks(world)) {
    if (world.task(id).state == TaskState::queued) ids.push_back(id);
  }
  return ids;
}
Ids told(World& world) {
  Ids lines;
  for (std::string& line : world.effects.take()) {
    if (line.find(": cancel ") != line.npos) lines.push_back(std::move(line));
  }
  return lines;
}

// The numbers of docs/workloads.md: one learner and three collectors on four processors.
TEST_CASE("commander place: a due evaluation gets the place of a collector") {
  CommandedWorld w("solo", solo_settings(), 4);
  CHECK(waiting(w) == Ids{"run-collect-3"});
  w.finish("run-evaluate-1");
  CHECK(waiting(w).empty());
  w.effects.take();

  w.pass(10);
  CHECK(waiting(w) == Ids{"run-evaluate-2"});
  CHECK(told(w) == Ids{"w: cancel run-collect-3 finish"});  // the newest
  w.pass(1);
  CHECK(told(w).empty());  // one is enough
  w.finish("run-collect-3", TaskState::cancelled);
  CHECK(w.task("run-evaluate-2").state == TaskState::leased);
  CHECK(waiting(w) == Ids{"run-collect-4"});

  report(w, "run-evaluate-2", {{"reward_mean", 195}});
  for (const std::string& id : live_tasks(w)) w.finish(id, TaskState::cancelled);
  CHECK(w.coordinator.finished());
  CHECK(w.commander.failure().empty());
}

TEST_CASE("commander place: a restarted coordinator takes no second place") {
  CommandedWorld w("solo", solo_settings(), 4);
  w.finish("run-evaluate-1");
  w.pass(10);
  REQUIRE(waiting(w) == Ids{"run-evaluate-2"});
  const auto next = w.restarted(test_commander("solo", solo_settings()));
  REQUIRE(next);
  WorkerHello hello = worker_hello("w", 4);
  for (const std::string& id : live_tasks(*next)) {
    if (next->task(id).lease != 0) hello.running.push_back(next->held(id));
  }
  REQUIRE(next->coordinator.worker_joined(hello, next->now));
  CHECK(told(*next) == Ids{"w: cancel run-collect-3 finish"});  // said again
  next->finish("run-collect-3", TaskState::cancelled);
  CHECK(next->task("run-evaluate-2").state == TaskState::leased);
}

TEST_CASE("commander place: a large evaluation gets the places of several collectors") {
  json settings = solo_settings();
  settings["evaluation"]["task"] = test_role();
  settings["evaluation"]["task"]["needs"]["cpu"] = 2;
  CommandedWorld w("solo", settings, 4);
  w.finish("run-evaluate-1");
  w.effects.take();
  w.pass(10);
  CHECK(told(w) == Ids{"w: cancel run-collect-3 finish", "w: cancel run-collect-2 finish"});
  w.finish("run-collect-3", TaskState::cancelled);
  // The collector that comes instead does not take what the evaluation waits for.
  CHECK(waiting(w) == Ids{"run-evaluate-2", "run-collect-4"});
  w.finish("run-collect-2", TaskState::cancelled);
  CHECK(waiting(w) == Ids{"run-collect-4", "run-collect-5"});
  CHECK(w.task("run-evaluate-2").state == TaskState::leased);
}

TEST_CASE("commander place: collectors of a higher priority give way too") {
  json settings = solo_settings();
  settings["collector"]["priority"] = 5;
  CommandedWorld w("solo", settings, 4);
  w.finish("run-evaluate-1");
  w.pass(10);
  w.finish("run-collect-3", TaskState::cancelled);
  CHECK(w.task("run-evaluate-2").state == TaskState::leased);
}

TEST_CASE("commander place: nobody ends for what no worker can have") {
  json settings = solo_settings();
  settings["evaluation"]["task"] = test_role();
  settings["evaluation"]["task"]["labels"] = {"gpu"};
  CommandedWorld w("solo", settings, 4);
  w.pass(60);
  CHECK(told(w).empty());
  CHECK(waiting(w) == Ids{"run-evaluate-1"});
  WorkerHello other = worker_hello("other", 1);
  other.labels = {"gpu"};
  REQUIRE(w.coordinator.worker_joined(other, w.now));
  CHECK(waiting(w).empty());
}

TEST_CASE("commander place: those end that have what the evaluation lacks") {
  json settings = test_settings(R"({"collectors": 2, "evaluation": {"interval": 10}})");
  settings["collector"]["needs"] = {{"gpu", 1}};
  settings["evaluation"]["task"] = test_role();
  settings["evaluation"]["task"]["needs"] = {{"gpu", 1}};
  CommandedWorld w(test_commander("solo", settings), 0);
  WorkerHello plain = worker_hello("plain", 2), cards = worker_hello("cards", 1);
  cards.capacity.gpu = 2;
  REQUIRE(w.coordinator.worker_joined(plain, w.now));
  REQUIRE(w.coordinator.worker_joined(cards, w.now));
  w.finish("run-evaluate-1");
  w.effects.take();
  w.pass(10);
  CHECK(told(w) == Ids{"cards: cancel run-collect-2 finish"});
}

TEST_CASE("commander place: a learner that has lost its worker gets the place of a collector") {
  json settings = test_settings(R"({"collectors": 4})");
  settings["learner"] = test_role(3);
  CommandedWorld w("solo", settings, 2);
  REQUIRE(w.coordinator.worker_joined(worker_hello("v", 3), w.now));
  REQUIRE(waiting(w).empty());
  const std::string lost = w.task("run-learn-1").worker;
  REQUIRE(lost == "w");
  w.effects.take();
  w.coordinator.worker_lost("w", w.now);
  w.pass(15);
  REQUIRE(told(w) == Ids{"v: cancel run-collect-4 finish"});
  w.finish("run-collect-4", TaskState::cancelled);
  CHECK(w.task("run-learn-1").worker == "v");
  CHECK(w.task("run-learn-1").state == TaskState::leased);
}

TEST_CASE("commander place: people hear of what waits for a place that nobody gives back") {
  CommandedWorld w("solo", solo_settings(), 1);
  REQUIRE(waiting(w).front() == "run-evaluate-1");
  w.pass(5);
  const std::string why = "no worker has room beside what gives way to nobody: w has run-learn-1";
  CHECK(w.task("run-evaluate-1").obstacle == why);
  CHECK(w.coordinator.why_waiting(w.task("run-evaluate-1")) == why);
  w.pass(60);  // a worker is kept for it now
  CHECK(w.coordinator.why_waiting(w.task("run-evaluate-1")) == why);
  REQUIRE(w.coordinator.worker_joined(worker_hello("v", 1), w.now));
  CHECK(w.task("run-evaluate-1").worker == "v");
}

TEST_CASE("commander place: what waits for the end of collectors is told of to nobody") {
  CommandedWorld w("solo", solo_settings(), 2);
  w.finish("run-evaluate-1");
  w.pass(10);
  REQUIRE(w.task("run-evaluate-2").state == TaskState::queued);
  w.pass(10);
  CHECK(w.task("run-evaluate-2").obstacle.empty());
  CHECK(w.task("run-collect-2").obstacle.empty());
}

TEST_CASE("commander place: what a commander has running at the same time") {
  const auto lists = test_commander("solo", solo_settings())->together();
  REQUIRE(lists.size() == 2);
  CHECK(lists[0].back().kind == "evaluate");
  CHECK(lists[1].back().kind == "collect");
  const auto naive = test_commander("naive", test_settings(R"({"learners": 3, "successes": 2})"));
  REQUIRE(naive->together().size() == 1);
  CHECK(naive->together()[0].size() == 3);
  CHECK(test_commander("trials", json::object()) == nullptr);

  Worker worker;
  worker.state = WorkerState::ready;
  worker.hello.capacity.cpu = 1;
  CHECK_FALSE(have_room({worker}, lists[0]));
  CHECK(have_room({worker, worker}, lists[0]));
  CHECK_FALSE(have_room({worker, worker}, naive->together()[0]));
  worker.hello.capacity.cpu = 3;
  CHECK(have_room({worker}, naive->together()[0]));
}

}  // namespace attune::commander_place_test
