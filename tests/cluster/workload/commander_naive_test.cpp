// Many learners, each with its own buffer.
#include <catch2/catch.hpp>

#include "tests/cluster/workload/commander_helpers.h"

namespace attune::commander_naive_test {

using namespace attune::test;
using Ids = std::vector<std::string>;

json naive_settings() {
  return test_settings(R"({"learners": 2, "collectors": 5, "successes": 3, "failures": 3})");
}

std::map<std::string, int> collectors_by_buffer(const World& world) {
  std::map<std::string, int> counts;
  for (const std::string& id : live_tasks(world, "collect"))
    ++counts[world.task(id).spec.uses.at(0)];
  return counts;
}

TEST_CASE("commander naive: each learner has a buffer of its own and its share of collectors") {
  CommandedWorld w("naive", naive_settings());
  CHECK(live_tasks(w, "learn") == Ids{"run-learn-1", "run-learn-2"});
  for (const std::string& id : live_tasks(w, "learn"))
    CHECK(w.task(id).spec.owns.at(0).id == id + "-buffer");
  CHECK(collectors_by_buffer(w) ==
        std::map<std::string, int>{{"run-learn-1-buffer", 3}, {"run-learn-2-buffer", 2}});
  w.finish("run-collect-1");
  CHECK(collectors_by_buffer(w)["run-learn-1-buffer"] == 3);
  CHECK(w.coordinator.next_time() == std::nullopt);
}

TEST_CASE("commander naive: collectors of a learner that has ended finish and others follow") {
  CommandedWorld w("naive", naive_settings());
  const auto end = GENERATE(TaskState::succeeded, TaskState::failed, TaskState::lost);
  w.finish("run-learn-1", end);
  CHECK(live_tasks(w, "learn") == Ids{"run-learn-2", "run-learn-3"});
  for (const std::string& id : live_tasks(w, "collect")) {
    const Task& task = w.task(id);
    CHECK((task.how == kFinish) == (task.spec.uses.at(0) == "run-learn-1-buffer"));
  }
  CHECK(live_tasks(w, "collect").size() == 5);
  for (const char* id : {"run-collect-1", "run-collect-3", "run-collect-5"}) w.finish(id);
  CHECK(collectors_by_buffer(w) ==
        std::map<std::string, int>{{"run-learn-2-buffer", 3}, {"run-learn-3-buffer", 2}});
}

TEST_CASE("commander naive: done when enough have succeeded and not before") {
  CommandedWorld w("naive", naive_settings());
  w.finish("run-learn-1");
  w.finish("run-learn-2", TaskState::failed);
  CHECK(live_tasks(w, "learn") == Ids{"run-learn-3", "run-learn-4"});
  w.finish("run-learn-4");
  CHECK(live_tasks(w, "learn") == Ids{"run-learn-3"});  // another could not be of use
  CHECK_FALSE(w.coordinator.board().latched());
  w.finish("run-learn-3");
  for (const std::string& id : live_tasks(w)) w.finish(id, TaskState::failed);
  CHECK(w.coordinator.finished());
  CHECK(w.commander.failure().empty());
}

TEST_CASE("commander naive: learners that fail in a row are too many at some time") {
  CommandedWorld w("naive", naive_settings());
  for (int i = 0; i < 3; ++i) {
    CHECK(w.commander.failure().empty());
    w.finish(live_tasks(w, "collect").back());
    w.finish(live_tasks(w, "learn").front(), TaskState::failed);
  }
  CHECK(w.commander.failure() ==
        "3 tasks learn in a row have failed, the last one is run-learn-3: cause");
}

}  // namespace attune::commander_naive_test
