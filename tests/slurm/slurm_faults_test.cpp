// What happens to jobs when machines and the controller do not work, as Slurm itself has it.
#include <catch2/catch.hpp>
#include <filesystem>

#include "tests/slurm/slurm_world.h"

namespace attune::slurm_faults_test {

TEST_CASE("slurm: a node that goes down ends a job or puts it back when it may be") {
  SlurmWorld& world = slurm_world();
  BatchJob once = slurm_job("down-once", "sleep 100");
  BatchJob again = slurm_job("down-again", "sleep 100");
  once.arguments = again.arguments = {"--nodelist=n4"};
  REQUIRE(world.submit(once));
  const BatchSubmission first = world.submit(again);
  REQUIRE(first);
  world.wait_for_phase("down-once", BatchPhase::running);
  world.wait_for_phase("down-again", BatchPhase::running);
  world.run("scontrol", {"update", "jobid=" + first->id, "requeue=1"});
  world.run("scontrol", {"update", "nodename=n4", "state=down", "reason=test"});
  CHECK(world.wait_for_phase("down-once", BatchPhase::ended).cause == BatchCause::node_failed);
  const auto state = world.wait_for_phase("down-again", BatchPhase::pending);
  CHECK(state.phase == BatchPhase::pending);
  CHECK(state.id == first->id);
  CHECK(state.stuck.empty());
  CHECK(world.cancel("down-again"));
  CHECK(world.wait_for_phase("down-again", BatchPhase::ended).cause == BatchCause::cancelled);
  world.run("scontrol", {"update", "nodename=n4", "state=resume"});
  world.await_idle_nodes();
}

TEST_CASE("slurm: a job of higher priority preempts one of the spot partition") {
  SlurmWorld& world = slurm_world();
  BatchJob spot = slurm_job("spot", "sleep 100");
  spot.partition = "spot";
  spot.arguments = {"--nodelist=n3", "--exclusive"};
  BatchJob back = spot;
  back.name = "spot-back";
  back.arguments = {"--nodelist=n2", "--exclusive"};
  BatchJob high = slurm_job("high", "sleep 100");
  REQUIRE(world.submit(spot));
  const BatchSubmission may_be_put_back = world.submit(back);
  REQUIRE(may_be_put_back);
  world.wait_for_phase("spot", BatchPhase::running);
  world.wait_for_phase("spot-back", BatchPhase::running);
  world.run("scontrol", {"update", "jobid=" + may_be_put_back->id, "requeue=1"});
  high.arguments = {"--nodelist=n3", "--exclusive"};
  REQUIRE(world.submit(high));
  high.name = "high-2";
  high.arguments = {"--nodelist=n2", "--exclusive"};
  REQUIRE(world.submit(high));
  CHECK(world.wait_for_phase("high", BatchPhase::running).phase == BatchPhase::running);
  CHECK(world.wait_for_phase("high-2", BatchPhase::running).phase == BatchPhase::running);
  CHECK(world.wait_for_phase("spot", BatchPhase::ended).cause == BatchCause::preempted);
  CHECK(world.wait_for_phase("spot-back", BatchPhase::pending).phase == BatchPhase::pending);
  for (const std::string name : {"spot-back", "high", "high-2"}) CHECK(world.cancel(name));
}

TEST_CASE("slurm: a job that the controller has forgotten is absent by name and submitted anew") {
  SlurmWorld& world = slurm_world();
  REQUIRE(world.submit(slurm_job("kept", "sleep 100")));
  world.wait_for_phase("kept", BatchPhase::running);
  // The controller saves its state some seconds late. Here it cannot, so that it surely is too
  // late.
  world.await_saved("kept");
  const auto in_the_way = world.path("state") / "job_state.new";
  std::filesystem::create_directory(in_the_way);
  BatchJob job = slurm_job("forgotten", "sleep 100");
  job.arguments = {"--hold"};
  const BatchSubmission first = world.submit(job);
  REQUIRE(first);
  world.kill_controller();
  const BatchSubmission refused = world.submit(job);
  REQUIRE_FALSE(refused);
  CHECK_FALSE(refused.error().permanent);
  CHECK(refused.error().message.find("Unable to contact slurm controller") != std::string::npos);

  std::filesystem::remove(in_the_way);
  world.start_controller();
  const auto states = world.list();
  REQUIRE(states);
  CHECK_FALSE(states->contains("forgotten"));
  CHECK(world.wait_for_phase("kept", BatchPhase::running).phase == BatchPhase::running);
  const BatchSubmission again = world.submit(job);
  REQUIRE(again);
  CHECK_FALSE(again->found);
  CHECK(again->id == first->id);  // which is why an id is no identity
  for (const std::string name : {"kept", "forgotten"}) CHECK(world.cancel(name));
}

}  // namespace attune::slurm_faults_test
