// One job for each task, and what becomes of it.
#include <catch2/catch.hpp>

#include "tests/cluster/batch/operator_world.h"

namespace attune::operator_jobs_test {

using namespace attune::test;
using Catch::Matchers::Contains;
using Names = std::vector<std::string>;

TEST_CASE("a task gets a job of its own name whose worker takes one task") {
  OperatorWorld world;
  world.options.settings.partition = "main";
  world.options.settings.time_limit = 3600;
  world.start();
  world.submit("e-t0-0", 2);
  REQUIRE(world.batch->names() == Names{"e-t0-0"});
  const BatchJob& job = world.batch->submitted[0];
  CHECK(job.script ==
        "#!/bin/sh\nexec '/bin/att'\\''une' worker --join '/shared/worker.json' --name "
        "'e-t0-0' --job --cpu 2 --gpu 0 --memory 0 --tasks 1 --leave-after 300\n");
  CHECK(job.needs.cpu == 2);
  CHECK(job.partition == "main");
  CHECK(job.warning == 120);
  CHECK(job.output == "/shared/jobs/e-t0-0.out");
  world.come("e-t0-0", 2);
  CHECK(world.task("e-t0-0").state == TaskState::leased);
}

TEST_CASE("generic resources that the user names replace those of the trial") {
  OperatorWorld world;
  world.options.settings.gres = "gpu:a100:1";
  const BatchJob job = worker_job(world.options, "e-1", {1, 1, 0, {{"card", 1}}}, "");
  CHECK(job.devices == "gpu:a100:1");
  CHECK(job.arguments.empty());
  CHECK_THAT(job.script, Contains("--gpu 1") && Contains("--resource 'card=1'"));
}

TEST_CASE("a task of another experiment and one for any worker get no job") {
  OperatorWorld world;
  TaskSpec other = trial_task("f-t0-0");
  other.worker = "f-t0-0";
  REQUIRE(world.world->coordinator.submit(other, 1000));
  REQUIRE(world.world->coordinator.submit(trial_task("any"), 1000));
  world.settle();
  CHECK(world.batch->submitted.empty());
}

TEST_CASE("a job that ends while its worker is away loses the task with the cause of Slurm") {
  const auto [cause, text] = GENERATE(table<BatchCause, std::string>(
      {{BatchCause::out_of_memory, "its job 1 ran out of memory"},
       {BatchCause::time_limit, "its job 1 reached its time limit"},
       {BatchCause::node_failed, "its job 1 lost its node"},
       {BatchCause::preempted, "its job 1 was preempted by another job"}}));
  OperatorWorld world;
  world.submit("e-t0-0");
  world.come("e-t0-0");
  world.world->start("e-t0-0");
  world.batch->end("e-t0-0", cause);
  world.pass(10);  // a list says so, but its worker is still here
  CHECK(world.task("e-t0-0").state == TaskState::running);
  world.lose("e-t0-0");  // asks at once
  CHECK(world.task("e-t0-0").state == TaskState::lost);
  CHECK(world.task("e-t0-0").cause == text);
}

TEST_CASE("a job that ends before its worker has come loses the task and says where to look") {
  OperatorWorld world;
  world.submit("e-t0-0");
  world.batch->end("e-t0-0", BatchCause::failed);
  world.batch->states["e-t0-0"].reason = "NonZeroExitCode";
  world.pass(5);
  CHECK(world.task("e-t0-0").state == TaskState::lost);
  CHECK(world.task("e-t0-0").cause ==
        "its job 1 has failed (NonZeroExitCode); its worker has never come, "
        "/shared/jobs/e-t0-0.out may "
        "say why");
}

TEST_CASE("a worker whose connection breaks and whose job runs keeps its task") {
  OperatorWorld world;
  world.submit("e-t0-0");
  world.come("e-t0-0");
  world.lose("e-t0-0");
  world.pass(5);
  CHECK(world.task("e-t0-0").state == TaskState::leased);
  world.come("e-t0-0");
  CHECK(world.task("e-t0-0").state == TaskState::leased);
  CHECK(world.batch->submitted.size() == 1);
}

TEST_CASE("another incarnation of a requeued job joins under the name") {
  OperatorWorld world;
  world.submit("e-t0-0");
  world.come("e-t0-0");
  world.lose("e-t0-0");
  world.batch->states.at("e-t0-0").phase = BatchPhase::pending;
  world.pass(1);
  world.come("e-t0-0", 1, "2");
  CHECK(world.task("e-t0-0").state == TaskState::leased);
  CHECK(world.batch->submitted.size() == 1);
}

TEST_CASE("a refusal that stays fails the task with its text and the key") {
  OperatorWorld world;
  world.batch->refusal = BatchRefusal{true, "partition", "Slurm knows no partition x"};
  world.submit("e-t0-0");
  CHECK(world.task("e-t0-0").state == TaskState::failed);
  CHECK(world.task("e-t0-0").cause == "Slurm knows no partition x; change partition");
  CHECK(world.batch->submitted.size() == 1);
}

TEST_CASE("a refusal tells what to change once whatever its words are") {
  const auto cause_of = [](bool tells_about) {
    OperatorWorld world;
    world.batch->refusal = BatchRefusal{true, "account", "never change account here", tells_about};
    world.submit("e-t0-0");
    return world.task("e-t0-0").cause;
  };
  CHECK(cause_of(true) == "never change account here");
  CHECK(cause_of(false) == "never change account here; change account");
}

TEST_CASE("a refusal that passes is tried again later and later and the client knows") {
  OperatorWorld world;
  world.batch->refusal = BatchRefusal{false, "", "Unable to contact slurm controller"};
  world.submit("e-t0-0");
  CHECK(world.batch->submitted.size() == 1);
  CHECK_THAT(world.task("e-t0-0").waits_for, Contains("Unable to contact slurm controller"));
  world.pass(1.9);
  CHECK(world.batch->submitted.size() == 1);
  world.pass(0.2);
  CHECK(world.batch->submitted.size() == 2);
  world.pass(3.8);
  CHECK(world.batch->submitted.size() == 2);
  world.batch->refusal.reset();
  world.pass(0.3);
  CHECK(world.batch->submitted.size() == 3);
  CHECK(world.op->next_time() > world.now());
}

TEST_CASE("a job that the controller has forgotten is submitted again under its name") {
  OperatorWorld world;
  world.submit("e-t0-0");
  world.batch->states.clear();
  world.batch->trouble = "Unable to contact slurm controller";
  world.pass(5);
  CHECK(world.batch->submitted.size() == 1);  // nobody knows anything
  world.batch->trouble.clear();
  world.pass(5);
  CHECK(world.batch->names() == Names{"e-t0-0", "e-t0-0"});
  CHECK(world.batch->states.contains("e-t0-0"));
}

TEST_CASE("a job that is forgotten each time is given up") {
  OperatorWorld world;
  world.submit("e-t0-0");
  for (int i = 0; i < 40 && !is_end(world.task("e-t0-0").state); ++i) {
    world.batch->states.clear();
    world.pass(5);
  }
  CHECK(world.task("e-t0-0").state == TaskState::lost);
  CHECK(world.batch->submitted.size() == 5);
}

TEST_CASE("a pending reason that will not pass is told once") {
  OperatorWorld world;
  world.submit("e-t0-0");
  world.batch->states.at("e-t0-0").stuck = "it is held: scontrol release";
  world.pass(5);
  const auto said = world.world->effects.take(true);
  CHECK(std::ranges::count(said, "client: e-t0-0 queued") > 0);
  world.pass(5);
  CHECK(world.world->effects.take(true).empty());
  CHECK(world.task("e-t0-0").waits_for == "job 1: it is held: scontrol release");
  world.come("e-t0-0");
  CHECK(world.task("e-t0-0").waits_for.empty());
}

TEST_CASE("a pending reason that is over is not told any more") {
  OperatorWorld world;
  world.submit("e-t0-0");
  world.batch->states.at("e-t0-0").stuck = "it is held";
  world.pass(5);
  REQUIRE(world.task("e-t0-0").waits_for == "job 1: it is held");
  world.batch->states.at("e-t0-0").stuck.clear();
  world.pass(5);
  CHECK(world.task("e-t0-0").waits_for.empty());
}

TEST_CASE("a job whose worker does not reach the coordinator is told with the cure") {
  OperatorWorld world;
  world.submit("e-t0-0");
  world.run_job("e-t0-0");
  world.pass(5);
  CHECK(world.explained.empty());
  world.pass(40);
  REQUIRE_FALSE(world.explained.empty());
  CHECK_THAT(world.explained.back(), Contains("slurm.listen") && Contains("127.0.0.1:7000"));
}

TEST_CASE("a task that is cancelled while it waits takes its job with it") {
  OperatorWorld world;
  world.submit("e-t0-0");
  world.world->coordinator.cancel("e-t0-0", "stop", "", world.now());
  world.settle();
  CHECK(world.batch->cancelled == Names{"e-t0-0"});
  world.pass(5);
  CHECK_FALSE(world.op->next_time().has_value());  // nothing is expected, nothing is asked
}

TEST_CASE("a task that is cancelled while its job is on its way takes the job with it") {
  OperatorWorld world;
  TaskSpec spec = trial_task("e-t0-0");
  spec.worker = "e-t0-0";
  REQUIRE(world.world->coordinator.submit(spec, world.now()));
  world.op->look(view_of(world.world->coordinator), world.now());
  CHECK(world.op->busy());
  world.world->coordinator.cancel("e-t0-0", "stop", "", world.now());
  world.op->look(view_of(world.world->coordinator), world.now());
  CHECK(world.batch->cancelled.empty());
  world.settle();
  CHECK(world.batch->cancelled == Names{"e-t0-0"});
  CHECK_FALSE(world.op->busy());
}

TEST_CASE("a job whose task is done is left to end by itself unless it does not") {
  OperatorWorld world;
  world.submit("e-t0-0");
  world.come("e-t0-0");
  world.world->start("e-t0-0");
  world.world->finish("e-t0-0");
  world.settle();
  world.lose("e-t0-0");
  for (int i = 0; i < 11; ++i) world.pass(5);
  CHECK(world.batch->cancelled.empty());
  for (int i = 0; i < 4; ++i) world.pass(5);
  CHECK(world.batch->cancelled == Names{"e-t0-0"});
}

TEST_CASE("a job that is put back when its task is done is cancelled") {
  OperatorWorld world;
  world.submit("e-t0-0");
  world.come("e-t0-0");
  world.world->start("e-t0-0");
  world.world->finish("e-t0-0", TaskState::lost);
  world.settle();
  world.lose("e-t0-0");
  world.batch->states.at("e-t0-0").phase = BatchPhase::pending;
  world.pass(5);
  CHECK(world.batch->cancelled == Names{"e-t0-0"});
}

TEST_CASE("no more jobs than allowed are there at a time") {
  OperatorWorld world;
  world.options.settings.most_jobs = 2;
  world.start();
  world.pass(0);
  for (const char* id : {"e-t0-0", "e-t1-0", "e-t2-0"}) world.submit(id);
  CHECK(world.batch->submitted.size() == 2);
  CHECK(world.op->next_time() > world.now());
  world.batch->end("e-t0-0", BatchCause::failed);
  world.pass(5);
  CHECK(world.batch->names() == Names{"e-t0-0", "e-t1-0", "e-t2-0"});
}

TEST_CASE("another coordinator finds jobs by their names and submits none twice") {
  OperatorWorld world;
  world.submit("e-t0-0");
  world.submit("e-t1-0");
  world.come("e-t0-0");
  world.restart();
  CHECK(world.batch->names() == Names{"e-t1-0"});  // which looks for the name first
  CHECK(world.batch->ids == 2);
  world.come("e-t0-0");
  world.pass(20);
  CHECK(world.task("e-t0-0").state == TaskState::leased);
  CHECK(world.task("e-t1-0").state == TaskState::queued);
}

TEST_CASE("another coordinator learns of a job that has ended meanwhile") {
  OperatorWorld world;
  world.submit("e-t0-0");
  world.come("e-t0-0");
  world.batch->end("e-t0-0", BatchCause::node_failed);
  world.restart();
  CHECK(world.task("e-t0-0").cause == "its job 1 lost its node");
}

TEST_CASE("jobs of ours that nobody knows are cancelled and others are not") {
  OperatorWorld world;
  world.batch->states["e-t9-0"].id = "7";
  world.batch->states["f-t9-0"].id = "8";
  world.pass(0);
  world.pass(50);
  CHECK(world.batch->cancelled.empty());
  world.pass(15);
  CHECK(world.batch->cancelled == Names{"e-t9-0"});
}

TEST_CASE("a job that runs without its worker is cancelled and the task is lost") {
  OperatorWorld world;
  world.submit("e-t0-0");
  world.run_job("e-t0-0");
  world.pass(5);  // seen to run
  world.pass(119);
  CHECK(world.task("e-t0-0").state == TaskState::queued);
  world.pass(5);
  CHECK(world.batch->cancelled == Names{"e-t0-0"});
  CHECK(world.task("e-t0-0").state == TaskState::lost);
  CHECK(world.task("e-t0-0").cause ==
        "its job 1 is cancelled after 120 s; its worker has never come, "
        "/shared/jobs/e-t0-0.out may say why");
}

TEST_CASE("a job whose worker cannot be heard any more is cancelled with the loss of its task") {
  OperatorWorld world;
  world.submit("e-t0-0");
  world.come("e-t0-0");
  world.lose("e-t0-0");
  world.pass(14);
  CHECK(world.batch->cancelled.empty());
  world.pass(1);
  CHECK(world.task("e-t0-0").state == TaskState::lost);
  CHECK(world.batch->cancelled == Names{"e-t0-0"});
}

TEST_CASE("a job that a node could not start is cancelled and the task is lost") {
  OperatorWorld world;
  world.submit("e-t0-0");
  world.batch->states["e-t0-0"].reason = "launch failed requeued held";
  world.batch->states["e-t0-0"].stuck = "a node could not start it";
  world.batch->states["e-t0-0"].failed_to_start = true;
  world.pass(5);
  CHECK(world.batch->cancelled == Names{"e-t0-0"});
  CHECK(world.task("e-t0-0").state == TaskState::lost);
  CHECK_THAT(world.task("e-t0-0").cause, Contains("a node could not start it"));
}

TEST_CASE("a held job whose worker is here was launched twice and is left alone") {
  OperatorWorld world;
  world.submit("e-t0-0");
  world.come("e-t0-0");
  world.batch->states["e-t0-0"].phase = BatchPhase::pending;
  world.batch->states["e-t0-0"].reason = "launch failed requeued held";
  world.batch->states["e-t0-0"].stuck = "a node could not start it";
  world.batch->states["e-t0-0"].failed_to_start = true;
  world.pass(130);
  CHECK(world.batch->cancelled.empty());
  CHECK(world.task("e-t0-0").state == TaskState::leased);
}

}  // namespace attune::operator_jobs_test
