// The number of collectors follows the workers.
#include <catch2/catch.hpp>

#include "tests/cluster/workload/commander_helpers.h"

namespace attune::commander_elastic_test {

using namespace attune::test;

// Those that have a worker, and those that wait for one.
std::pair<int, int> collectors(const World& world) {
  std::pair<int, int> counts;
  for (const std::string& id : live_tasks(world, "collect"))
    ++(world.task(id).state == TaskState::queued ? counts.second : counts.first);
  return counts;
}
using Counts = std::pair<int, int>;

const char* const kElastic = R"({"collectors": {"min": 2, "max": 6}})";

TEST_CASE("commander elastic: collectors come and go with the workers") {
  const std::string name = GENERATE("solo", "naive");
  json settings = test_settings(kElastic);
  settings["collector"] = test_role(100);
  settings["learner"]["needs"] = {{"gpu", 1}};  // on a worker of its own
  CommandedWorld w(test_commander(name, settings), 0);
  WorkerHello learner = worker_hello("l", 0);
  learner.capacity.gpu = 1;
  REQUIRE(w.coordinator.worker_joined(learner, w.now));
  CHECK(collectors(w) == Counts{0, 2});
  REQUIRE(w.coordinator.worker_joined(worker_hello("u", 3), w.now));
  CHECK(collectors(w) == Counts{3, 1});
  REQUIRE(w.coordinator.worker_joined(worker_hello("v", 2), w.now));
  CHECK(collectors(w) == Counts{5, 1});
  REQUIRE(w.coordinator.worker_joined(worker_hello("x", 2), w.now));
  CHECK(collectors(w) == Counts{6, 0});
  // Its collectors wait for it, then for another one: one that waits is enough.
  w.coordinator.worker_lost("u", w.now);
  w.pass(15);
  CHECK(collectors(w).first == 4);
  CHECK(collectors(w).second == 1);
  w.coordinator.worker_lost("v", w.now);
  w.coordinator.worker_lost("x", w.now);
  w.pass(15);
  CHECK(collectors(w) == Counts{0, 2});
}

TEST_CASE("commander elastic: a coordinator that was restarted counts on") {
  CommandedWorld w(test_commander("solo", test_settings(kElastic)), 4);
  CHECK(collectors(w) == Counts{3, 1});
  const bool snapshot = GENERATE(false, true);
  std::unique_ptr<World> next;
  if (snapshot) {
    next = std::make_unique<World>(test_commander("solo", test_settings(kElastic)));
    REQUIRE(next->coordinator.load(w.coordinator.save()));
    next->coordinator.begin(w.now);
  } else {
    next = w.restarted(test_commander("solo", test_settings(kElastic)));
  }
  REQUIRE(next);
  CHECK(collectors(*next) == Counts{3, 1});
  REQUIRE(next->coordinator.worker_joined(worker_hello("v", 1), next->now));
  CHECK(collectors(*next) == Counts{4, 1});
}

// One that waits all the time does not take the place that one has given back.
TEST_CASE("commander elastic: a due evaluation gets a place") {
  json settings = test_settings(R"({"evaluation": {"interval": 100}, "collectors": {"max": 9}})");
  CommandedWorld w(test_commander("solo", settings), 4);
  w.finish("run-evaluate-1");
  REQUIRE(collectors(w) == Counts{3, 1});
  for (int seconds = 0; seconds < 100; ++seconds) w.pass(1);  // a worker is kept for it by now
  REQUIRE(live_tasks(w, "evaluate") == std::vector<std::string>{"run-evaluate-2"});
  w.finish("run-collect-3", TaskState::cancelled);
  CHECK(w.task("run-evaluate-2").state == TaskState::leased);
  CHECK(collectors(w) == Counts{2, 1});
  w.finish("run-evaluate-2");
  CHECK(collectors(w) == Counts{3, 1});
}

TEST_CASE("commander elastic: wrong bounds are an error") {
  const auto [given, wanted] = GENERATE(table<std::string, std::string>({
      {R"({"min": 2})", "solo.collectors.max: missing: how many there may be at the most"},
      {R"({"min": 3, "max": 2})", "solo.collectors.min: at most max, which is 2, is wanted, not 3"},
      {R"({"max": 0})", "solo.collectors.max: an integer in [1, 10000]"},
      {R"({"most": 2})", "solo.collectors.most: unknown key"},
      {"0", "solo.collectors: an integer in [1, 10000] expected, not 0"},
      {R"("many")", "solo.collectors: an integer in [1, 10000] expected"},
  }));
  const auto made = make_commander("solo", test_settings(R"({"collectors": )" + given + "}"), 1);
  REQUIRE_FALSE(made);
  CHECK_THAT(made.error().message, Catch::Contains(wanted));
}

}  // namespace attune::commander_elastic_test
