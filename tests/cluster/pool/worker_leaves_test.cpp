// Workers that go by themselves, and what becomes of what they have.
#include <catch2/catch.hpp>

#include "tests/cluster/pool/pool_in_process.h"
#include "tests/cluster/pool/server_fixture.h"

namespace attune::worker_leaves_test {

using namespace attune::test;

TEST_CASE("a worker whose machine is taken away ends its trials as lost") {
  PoolInProcess pool;
  pool.command = "trap 'exit 0' TERM; echo x > begun; while :; do sleep 0.05; done";
  pool.start_worker("w", 1);
  REQUIRE(pool.coordinator.submit(pool.trial(1), pool.now));
  REQUIRE(pool.coordinator.submit(pool.trial(2), pool.now));
  REQUIRE(pool.run_until(
      [&] { return pool.coordinator.board().tasks().at("e-t1-0").state == TaskState::running; }));
  pool.coordinator.worker_drains("w", pool.now);
  pool.workers.at("w").tasks->vacate("its job's time limit is near");
  REQUIRE(pool.run_until([&] { return pool.ended("e-t1-0"); }));
  const Task& task = pool.coordinator.board().tasks().at("e-t1-0");
  CHECK(task.state == TaskState::lost);
  CHECK(task.cause == "its job's time limit is near");
  CHECK(parse_json(task.report).value()["with_grace"] == true);
  CHECK(pool.coordinator.board().tasks().at("e-t2-0").state == TaskState::queued);
}

TEST_CASE("a trial that dies with its job is lost although it died first") {
  PoolInProcess pool;
  pool.command = "kill -TERM $$";
  pool.start_worker("w", 1);
  WorkerTasks& tasks = *pool.workers.at("w").tasks;
  tasks.set_doubt(std::chrono::hours(1));
  REQUIRE(pool.coordinator.submit(pool.trial(1), pool.now));
  // Its end has been seen when its reader has nothing left to say.
  REQUIRE(pool.run_until([&] { return tasks.doubts() == 1; }));
  CHECK_FALSE(pool.ended("e-t1-0"));
  tasks.vacate("its job was ended");
  REQUIRE(pool.run_until([&] { return pool.ended("e-t1-0"); }));
  CHECK(pool.coordinator.board().tasks().at("e-t1-0").cause == "its job was ended");
  CHECK(pool.coordinator.board().tasks().at("e-t1-0").state == TaskState::lost);
}

TEST_CASE("a trial that fails in a job has failed a little later") {
  PoolInProcess pool;
  pool.command = "exit 3";
  pool.start_worker("w", 1);
  pool.workers.at("w").tasks->set_doubt(std::chrono::milliseconds(10));
  REQUIRE(pool.coordinator.submit(pool.trial(1), pool.now));
  REQUIRE(pool.run_until([&] { return pool.ended("e-t1-0"); }));
  CHECK(pool.coordinator.board().tasks().at("e-t1-0").state == TaskState::failed);
}

TEST_CASE("a worker for one task takes one and goes") {
  ServerFixture fixture;
  fixture.most_tasks = 1;
  fixture.start_server();
  auto& client = fixture.start_client();
  REQUIRE(fixture.run_until([&] { return client.connection != nullptr; }));
  client.say(fixture.trial(1));
  client.say(fixture.trial(2));
  fixture.start_worker("w", 1);
  REQUIRE(fixture.run_until([&] { return fixture.done.contains("w"); }));
  const auto& tasks = fixture.server->coordinator().board().tasks();
  CHECK(tasks.at("e-t1-0").state == TaskState::succeeded);
  CHECK(tasks.at("e-t2-0").state == TaskState::queued);
}

TEST_CASE("a worker without a task goes after a while whether it reaches anybody or not") {
  const bool reached = GENERATE(true, false);
  ServerFixture fixture;
  fixture.leave_after = std::chrono::milliseconds(50);
  if (reached) fixture.start_server();
  fixture.start_worker("w", 1);
  CHECK(fixture.run_until([&] { return fixture.done.contains("w"); }));
}

TEST_CASE("a worker whose coordinator is gone for ever goes when nothing runs") {
  ServerFixture fixture;
  fixture.unreachable_after = std::chrono::milliseconds(300);
  fixture.command = "until test -e go; do sleep 0.01; done";
  fixture.start_server();
  auto& client = fixture.start_client();
  REQUIRE(fixture.run_until([&] { return client.connection != nullptr; }));
  client.say(fixture.trial(1));
  fixture.start_worker("w", 1);
  const auto runs = [&] {
    const auto& tasks = fixture.server->coordinator().board().tasks();
    return tasks.contains("e-t1-0") && tasks.at("e-t1-0").state == TaskState::running;
  };
  REQUIRE(fixture.run_until([&] {
    if (fixture.done.erase("w") > 0) {  // a busy machine: it went before it had reached anybody
      fixture.unreachable_after *= 2;
      fixture.start_worker("w", 1);
    }
    return runs();
  }));
  fixture.server.reset();
  int turns = 0;  // longer than it would wait for a task
  REQUIRE(fixture.run_until([&] { return ++turns > 30; }));
  CHECK_FALSE(fixture.done.contains("w"));
  std::ofstream(fixture.folder.path / "go") << "";
  REQUIRE(fixture.run_until([&] { return fixture.done.contains("w"); }));

  // The next one of that name tells what became of the trial.
  fixture.workers.clear();
  fixture.unreachable_after = {};
  fixture.start_server();
  fixture.start_worker("w", 1);
  CHECK(fixture.run_until([&] {
    return fixture.server->coordinator().board().tasks().at("e-t1-0").state == TaskState::succeeded;
  }));
}

TEST_CASE("a worker that drains, and has nothing to do, waits for no coordinator") {
  ServerFixture f;
  f.start_server();
  f.start_worker("w");
  REQUIRE(f.run_until([&] { return !f.server->coordinator().workers().workers().empty(); }));
  SECTION("while there is none") {
    f.server.reset();
    f.workers.at("w")->drain();
  }
  SECTION("when it goes before it has answered") {
    f.workers.at("w")->drain();
    f.server.reset();
  }
  CHECK(f.run_until([&] { return f.done.contains("w"); }));
}

}  // namespace attune::worker_leaves_test
