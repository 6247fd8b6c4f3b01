// Jobs of plain workers, as many as there is demand for.
#include <catch2/catch.hpp>

#include "tests/cluster/batch/operator_world.h"

namespace attune::operator_pilots_test {

using namespace attune::test;
using Catch::Matchers::Contains;
using Names = std::vector<std::string>;

struct Pilots : OperatorWorld {
  explicit Pilots(double cpu = 1, int most = 100) : OperatorWorld(SlurmSettings::Mode::pilots) {
    options.settings.pilot.capacity.cpu = cpu;
    options.settings.most_jobs = most;
    start();
    pass(0);
  }
};

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

TEST_CASE("pilots: tasks that come before it is known which there are wait for no longer") {
  Pilots world;
  world.start();
  REQUIRE(world.world->coordinator.submit(trial_task("e-t0-0"), world.now()));
  world.op->look(view_of(world.world->coordinator), world.now());
  world.op->tick(world.now());
  CHECK(world.batch->submitted.empty());
  world.batch->answer();
  REQUIRE(world.op->next_time() <= world.now());
  world.op->tick(world.now());
  CHECK(world.batch->names() == Names{"e-pilot-1-1"});
  CHECK(world.op->next_time() > world.now());
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
    CHECK(world.task(fmt::format("e-t{}-0", i)).cause == "no such account; change account");
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
  CHECK_THAT(world.task("e-t0-0").waits_for, Contains("is cancelled after 120 s"));
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
  world.batch->states["e-pilot-1-1"].failed_to_start = true;
  world.pass(5);
  CHECK(world.batch->cancelled == Names{"e-pilot-1-1"});
  world.pass(2);
  CHECK(world.batch->names() == Names{"e-pilot-1-1", "e-pilot-1-2"});
}

TEST_CASE("pilots: after a failure surplus ones are cancelled and the next time is not past") {
  Pilots world;
  world.options.settings.poll = 0.5;
  world.start();
  world.pass(0);
  for (int i = 0; i < 4; ++i) world.submit(fmt::format("e-t{}-0", i));
  REQUIRE(world.batch->submitted.size() == 4);
  const double begun = world.now();
  for (int i = 0; i < 2; ++i)
    world.world->coordinator.cancel(fmt::format("e-t{}-0", i), "stop", "", begun);
  world.settle();
  world.pass(4);
  world.batch->end("e-pilot-1-1", BatchCause::failed);  // the next one waits 2 s
  world.pass(0.5);
  CHECK(world.batch->cancelled.empty());
  world.world->now = begun + 5;
  world.op->tick(world.now());
  CHECK(world.batch->cancelled.size() == 1);
  REQUIRE(world.op->next_time());
  CHECK(*world.op->next_time() > world.now());
}

TEST_CASE("pilots: with the end no next time is in the past") {
  Pilots world;
  world.submit("e-t0-0");
  world.world->coordinator.cancel("e-t0-0", "stop", "", world.now());
  world.settle();  // it is surplus
  world.world->coordinator.finish_all("all is done", world.now());
  world.settle();
  world.world->now += 6;
  world.op->tick(world.now());
  CHECK((!world.op->next_time() || *world.op->next_time() > world.now()));
}

TEST_CASE("pilots: why their jobs do not begin is said once for each reason") {
  Pilots world;
  for (int i = 0; i < 3; ++i) world.submit(fmt::format("e-t{}-0", i));
  for (auto& [name, state] : world.batch->states) state.stuck = "it is held (JobHeldUser)";
  world.pass(5);
  CHECK_THAT(world.task("e-t0-0").waits_for, Contains("e-pilot-*: it is held (JobHeldUser)"));
  world.world->effects.take(true);
  for (int i = 0; i < 3; ++i) world.pass(5);
  CHECK(world.world->effects.take(true).empty());
  world.batch->states["e-pilot-1-2"].stuck = "no node is as it wants (BadConstraints)";
  world.pass(5);
  CHECK_THAT(world.task("e-t0-0").waits_for, Contains("JobHeldUser") && Contains("BadConstraints"));
  world.world->effects.take(true);
  for (int i = 0; i < 3; ++i) world.pass(5);
  CHECK(world.world->effects.take(true).empty());
  for (auto& [name, state] : world.batch->states) state.stuck.clear();
  world.pass(5);
  CHECK(world.task("e-t0-0").waits_for.empty());
}

TEST_CASE("pilots: one that is too small for a task and one that is held take no turns") {
  Pilots world(2);
  world.submit("e-t0-0", 4);
  world.submit("e-t1-0", 1);
  world.batch->states.at("e-pilot-1-1").stuck = "it is held (JobHeldUser)";
  world.pass(5);
  world.world->effects.take(true);
  for (int i = 0; i < 3; ++i) world.pass(5);
  CHECK(world.world->effects.take(true).empty());
  CHECK_THAT(world.task("e-t0-0").waits_for, Contains("slurm.pilot"));
  CHECK_THAT(world.task("e-t1-0").waits_for, Contains("JobHeldUser"));
}

TEST_CASE("pilots: that they end without having come is said once for each cause") {
  Pilots world;
  world.submit("e-t0-0");
  std::set<std::string> said;
  for (int second = 0; second < 60; ++second) {
    for (const std::string& name : world.batch->names()) world.batch->end(name, BatchCause::failed);
    world.pass(1);
    said.insert(world.task("e-t0-0").waits_for);
  }
  REQUIRE(world.batch->submitted.size() > 2);
  said.erase("");
  CHECK(said.size() == 1);
  CHECK_THAT(*said.begin(), Contains("has failed") && Contains("/shared/jobs/e-pilot-*.out"));
}

TEST_CASE("pilots: a refusal of large ones is none of small ones") {
  Pilots world(0);
  world.batch->refusal =
      BatchRefusal{true, "resources.cpu", "CPU count per node can not be satisfied"};
  world.submit("e-t0-0", 1000);
  REQUIRE(world.task("e-t0-0").state == TaskState::failed);
  world.batch->refusal.reset();
  const std::size_t before = world.batch->submitted.size();
  world.submit("e-t1-0", 1);
  world.pass(60);
  CHECK(world.task("e-t1-0").state == TaskState::queued);
  CHECK(world.batch->submitted.size() == before + 1);
  CHECK(world.batch->submitted.back().needs.cpu == 1);
}

TEST_CASE("pilots: what was refused is asked for again with the next task") {
  Pilots world;
  world.batch->refusal = BatchRefusal{true, "partition", "no such partition"};
  world.submit("e-t0-0");
  REQUIRE(world.task("e-t0-0").state == TaskState::failed);
  const std::size_t before = world.batch->submitted.size();
  world.pass(60);
  CHECK(world.batch->submitted.size() == before);
  world.batch->refusal.reset();
  world.submit("e-t1-0");
  CHECK(world.batch->submitted.size() == before + 1);
  CHECK(world.task("e-t1-0").state == TaskState::queued);
}

TEST_CASE("pilots: tasks of two sizes get pilots of their sizes") {
  Pilots world(0);
  world.submit("e-t0-0", 1);
  world.submit("e-t1-0", 8);
  world.submit("e-t2-0", 8);
  REQUIRE(world.batch->submitted.size() == 3);
  std::vector<double> sizes;
  for (const BatchJob& job : world.batch->submitted) sizes.push_back(job.needs.cpu);
  CHECK(sizes == std::vector<double>{1, 8, 8});
  world.world->coordinator.cancel("e-t0-0", "stop", "", world.now());
  world.settle();
  world.pass(5);
  CHECK(world.batch->cancelled == Names{"e-pilot-1-1"});
}

TEST_CASE("pilots: a task with labels gets none because none has any") {
  Pilots world;
  TaskSpec spec = trial_task("e-t0-0");
  spec.labels = {"a100"};
  REQUIRE(world.world->coordinator.submit(spec, world.now()));
  world.settle();
  CHECK(world.batch->submitted.empty());
  CHECK_THAT(world.task("e-t0-0").waits_for, Contains("label"));
}

}  // namespace attune::operator_pilots_test
