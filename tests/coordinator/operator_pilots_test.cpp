// Jobs of plain workers, as many as there is demand for.
#include <catch2/catch.hpp>

#include "tests/coordinator/operator_world.h"

using namespace attune;
using namespace attune::test;
using Catch::Matchers::Contains;
using Names = std::vector<std::string>;

namespace {

struct Pilots : OperatorWorld {
  explicit Pilots(double cpu = 1, int most = 100) : OperatorWorld(SlurmSettings::Mode::pilots) {
    options.settings.pilot.capacity.cpu = cpu;
    options.settings.most_jobs = most;
    start();
    pass(0);
  }
};

}  // namespace

TEST_CASE("pilots: as many as the waiting tasks need and no more") {
  Pilots world(2);
  for (int i = 0; i < 5; ++i) world.submit(fmt::format("e-t{}-0", i));
  CHECK(world.batch->names() == Names{"e-pilot-1-1", "e-pilot-1-2", "e-pilot-1-3"});
  CHECK_THAT(world.batch->submitted[0].script, Contains("--leave-after 60\n"));
  CHECK(world.batch->submitted[0].script.find("--tasks") == std::string::npos);
  world.come("e-pilot-1-1", 2);
  world.come("e-pilot-1-2", 2);
  world.pass(5);
  CHECK(world.batch->submitted.size() == 3);
  CHECK(world.batch->cancelled.empty());
}

TEST_CASE("pilots: no more than the maximum") {
  Pilots world(1, 2);
  for (int i = 0; i < 5; ++i) world.submit(fmt::format("e-t{}-0", i));
  CHECK(world.batch->submitted.size() == 2);
  world.come("e-pilot-1-1");
  world.pass(5);
  CHECK(world.batch->submitted.size() == 2);
}

TEST_CASE("pilots: pending ones are cancelled when nothing waits for long enough") {
  Pilots world;
  world.submit("e-t0-0");
  world.submit("e-t1-0");
  world.come("e-pilot-1-1");
  world.world->coordinator.cancel("e-t0-0", "stop", "", world.now());
  world.world->coordinator.cancel("e-t1-0", "stop", "", world.now());
  world.settle();
  CHECK(world.batch->cancelled.empty());
  world.pass(5);
  CHECK(world.batch->cancelled == Names{"e-pilot-1-2"});
}

TEST_CASE("pilots: one that dies loses its tasks at once and another one comes for them") {
  Pilots world;
  world.submit("e-t0-0");
  world.come("e-pilot-1-1");
  world.batch->end("e-pilot-1-1", BatchCause::preempted);
  world.lose("e-pilot-1-1");
  CHECK(world.task("e-t0-0").state == TaskState::lost);
  CHECK(world.task("e-t0-0").cause == "its job 1 was preempted by another job");
  world.submit("e-t0-1");
  CHECK(world.batch->names() == Names{"e-pilot-1-1", "e-pilot-1-2"});
}

TEST_CASE("pilots: one that is idle leaves by itself and is no loss") {
  Pilots world;
  world.submit("e-t0-0");
  world.come("e-pilot-1-1");
  world.world->start("e-t0-0");
  world.world->finish("e-t0-0");
  world.settle();
  world.lose("e-pilot-1-1");
  world.batch->end("e-pilot-1-1", BatchCause::completed);
  world.pass(10);
  CHECK_FALSE(world.op->next_time().has_value());
  world.submit("e-t1-0");
  CHECK(world.batch->names() == Names{"e-pilot-1-1", "e-pilot-1-2"});
}

TEST_CASE("pilots: those that end without having come are tried later and later") {
  Pilots world;
  world.submit("e-t0-0");
  for (int second = 0; second < 60; ++second) {
    for (const std::string& name : world.batch->names()) world.batch->end(name, BatchCause::failed);
    world.pass(1);
  }
  CHECK(world.batch->submitted.size() < 7);
  CHECK(world.batch->submitted.size() > 2);
  CHECK(world.task("e-t0-0").state == TaskState::queued);
  CHECK_THAT(world.task("e-t0-0").waits_for, Contains("has failed"));
}

TEST_CASE("pilots: a refusal that stays fails all that waits") {
  Pilots world;
  world.batch->refusal = BatchRefusal{true, "account", "no such account"};
  for (int i = 0; i < 3; ++i) world.submit(fmt::format("e-t{}-0", i));
  for (int i = 0; i < 3; ++i) {
    CHECK(world.task(fmt::format("e-t{}-0", i)).state == TaskState::failed);
    CHECK(world.task(fmt::format("e-t{}-0", i)).cause == "no such account (change account)");
  }
}

TEST_CASE("pilots: another coordinator goes on with those that there are") {
  Pilots world;
  world.submit("e-t0-0");
  world.submit("e-t1-0");
  world.come("e-pilot-1-1");
  world.restart();
  CHECK(world.batch->submitted.empty());
  world.come("e-pilot-1-1");
  world.come("e-pilot-1-2");
  CHECK(world.task("e-t1-0").state == TaskState::leased);
  world.submit("e-t2-0");
  CHECK(world.batch->names() == Names{"e-pilot-2-1"});
}

TEST_CASE("pilots: a task that is too large for them is told so") {
  Pilots world(2);
  world.submit("e-t0-0", 4);
  CHECK(world.batch->submitted.empty());
  CHECK_THAT(world.task("e-t0-0").waits_for, Contains("slurm.pilot"));
}

TEST_CASE("pilots: with the end all that have not come are cancelled") {
  Pilots world;
  world.submit("e-t0-0");
  world.world->coordinator.finish_all("all is done", world.now());
  world.settle();
  CHECK(world.batch->cancelled == Names{"e-pilot-1-1"});
  CHECK_FALSE(world.op->busy());
}

TEST_CASE("pilots: one whose job runs without its worker is cancelled and replaced") {
  Pilots world;
  world.submit("e-t0-0");
  world.run_job("e-pilot-1-1");
  world.pass(5);  // seen to run
  world.pass(115);
  CHECK(world.batch->cancelled.empty());
  CHECK_THAT(world.task("e-t0-0").waits_for, Contains("has not reached the coordinator"));
  world.pass(5);
  CHECK(world.batch->cancelled == Names{"e-pilot-1-1"});
  CHECK_THAT(world.task("e-t0-0").waits_for, Contains("its job 1 is cancelled after 120 s"));
  CHECK(world.batch->submitted.size() == 1);  // not at once
  world.pass(2);
  CHECK(world.batch->names() == Names{"e-pilot-1-1", "e-pilot-1-2"});
  world.come("e-pilot-1-2");
  CHECK(world.task("e-t0-0").state == TaskState::leased);
}

TEST_CASE("pilots: one that cannot be heard any more is cancelled with the loss of its tasks") {
  Pilots world(1, 1);
  world.submit("e-t0-0");
  world.come("e-pilot-1-1");
  world.lose("e-pilot-1-1");
  world.pass(5);
  CHECK(world.batch->cancelled.empty());  // it may come back
  world.pass(10);
  CHECK(world.task("e-t0-0").state == TaskState::lost);
  CHECK(world.batch->cancelled == Names{"e-pilot-1-1"});
  world.submit("e-t0-1");
  world.pass(5);  // a list says that the job has ended
  CHECK(world.batch->names() == Names{"e-pilot-1-1", "e-pilot-1-2"});
}

TEST_CASE("pilots: one that a node could not start is cancelled and replaced") {
  Pilots world;
  world.submit("e-t0-0");
  world.batch->states["e-pilot-1-1"].reason = "launch failed requeued held";
  world.batch->states["e-pilot-1-1"].stuck = "a node could not start it";
  world.pass(5);
  CHECK(world.batch->cancelled == Names{"e-pilot-1-1"});
  world.pass(2);
  CHECK(world.batch->names() == Names{"e-pilot-1-1", "e-pilot-1-2"});
}
