// What happens to an experiment when machines, Slurm or the coordinator do not do their part.
#include <catch2/catch.hpp>

#include "tests/slurm/slurm_experiment.h"

namespace attune::slurm_experiment_faults_test {

using Catch::Matchers::Contains;

std::string four(const std::string& slurm, const std::string& more = "") {
  return "trialConcurrency: 4\nmaxTrialNumber: 4\nbackend: slurm\n" + more + "slurm: " + slurm;
}

// Runs until each of its trials has begun.
void begin(SlurmExperiment& experiment, std::size_t count = 4) {
  experiment.start({"run", "e.yaml", "--dir", "exp"});
  REQUIRE(experiment.await([&] { return experiment.lines("ran").size() == count; }));
}

std::string job_id(const std::string& name) {
  std::string id =
      slurm_world().run("squeue", {"-h", "-t", "all", "-o", "%i", "--name=" + name}).output;
  while (!id.empty() && id.back() == '\n') id.pop_back();
  return id;
}

void finish(SlurmExperiment& experiment, std::size_t count = 4) {
  experiment.touch("go");
  INFO(experiment.await_end());
  CHECK(experiment.code() == 0);
  experiment.check_all_succeeded(count);
}

TEST_CASE("slurm: a coordinator that is killed is started again by its manager") {
  const std::string mode = GENERATE("{mode: jobs, poll: 1}", "{mode: pilots, poll: 1}");
  SlurmExperiment experiment(kGated, four(mode));
  begin(experiment);
  experiment.kill_coordinator();
  REQUIRE(experiment.await([&] { return experiment.log_says(" listens on ", 2); }));
  finish(experiment);
  CHECK(experiment.lines("ran").size() == 4);  // nothing twice
  CHECK_THAT(experiment.text("err"), Contains("the connection to the coordinator is lost"));
}

TEST_CASE("slurm: a job that an administrator requeues loses its trials which are tried again") {
  const std::string mode = GENERATE("{mode: jobs, poll: 1}", "{mode: pilots, poll: 1}");
  SlurmExperiment experiment(kGated, four(mode, "retries: {lost: 3}\n"));
  begin(experiment);
  const auto [trial, job] = experiment.ran(0);
  const std::string id = job_id(job);
  slurm_world().run("scontrol", {"update", "jobid=" + id, "requeue=1"});
  const CommandEnd done = slurm_world().run("scontrol", {"requeue", id});
  INFO(done.errors);
  REQUIRE(done.success());
  REQUIRE(experiment.await([&] { return experiment.lines("ran").size() == 5; }));
  CHECK(experiment.ran(4).first == trial);
  CHECK(experiment.ran(4).second != job);
  finish(experiment);
  CHECK(experiment.lost() == 1);
  CHECK(experiment.lines("ran").size() == 5);
}

TEST_CASE("slurm: a preempted job loses its trial which is tried again") {
  SlurmWorld& world = slurm_world();
  SlurmExperiment experiment(
      kGated,
      "trialConcurrency: 1\nmaxTrialNumber: 1\nbackend: slurm\nretries: {lost: 3}\n"
      "slurm: {poll: 1, partition: spot}");
  begin(experiment, 1);
  BatchJob high = slurm_job("preempts", "sleep 100");
  high.arguments = {"--nodelist=" + experiment.node(0), "--exclusive"};
  REQUIRE(world.submit(high));
  REQUIRE(experiment.await([&] { return experiment.lines("ran").size() == 2; }));
  finish(experiment, 1);
  CHECK(experiment.lost() == 1);
  CHECK(world.cancel("preempts"));
  world.await_idle_nodes();
}

// As Slurm does it before the time limit, which takes half a minute; that is a test of its own.
TEST_CASE("slurm: a job that is warned of its end ends its trial which goes on in another one") {
  SlurmExperiment experiment(kSaving, four("{mode: jobs, poll: 1}", "retries: {lost: 3}\n"));
  begin(experiment);
  const std::string job = experiment.ran(0).second;
  REQUIRE(slurm_world().run("scancel", {"--batch", "--signal=USR1", job_id(job)}).success());
  REQUIRE(experiment.await([&] { return experiment.lines("ran").size() == 5; }));
  finish(experiment);
  CHECK(experiment.lines("resumed") == std::vector<std::string>{experiment.ran(0).first});
  CHECK(experiment.lost() == 1);
  CHECK_THAT(experiment.lost_because(), Contains("time limit is near"));
}

TEST_CASE("slurm: a node daemon that is killed and started again is not noticed") {
  SlurmWorld& world = slurm_world();
  SlurmExperiment experiment(kGated, four("{mode: jobs, poll: 1}"));
  begin(experiment);
  const std::string node = experiment.node(0);
  world.kill_node_daemon(node);
  world.start_node_daemon(node);
  finish(experiment);
  CHECK(experiment.lines("ran").size() == 4);
  world.await_idle_nodes();
}

TEST_CASE("slurm: a trial whose step daemon is killed runs on and counts once") {
  SlurmExperiment experiment(kGated, four("{mode: jobs, poll: 1}"));
  begin(experiment);
  const std::string id = job_id(experiment.ran(0).second);
  REQUIRE(experiment.kill_all_with("slurmstepd: [" + id + ".batch]") == 1);
  finish(experiment);
  CHECK(experiment.lines("ran").size() == 4);
  slurm_world().cancel(experiment.ran(0).second).value();
}

}  // namespace attune::slurm_experiment_faults_test
