// Experiments with backend: slurm, the program attune and a real Slurm.
#include <catch2/catch.hpp>
#include <map>

#include "tests/slurm/slurm_experiment.h"

namespace attune::slurm_experiment_test {

using Catch::Matchers::Contains;

constexpr const char* kEight = "trialConcurrency: 8\nmaxTrialNumber: 8\nbackend: slurm\n";
constexpr const char* kQuick = "echo \"$NNI_TRIAL_JOB_ID $SLURM_JOB_NAME\" >> ran; report FINAL 1";

// The jobs of eight trials, which all succeed.
std::set<std::string> jobs_of_eight(const std::string& slurm) {
  SlurmExperiment experiment(kQuick, kEight + ("slurm: " + slurm));
  experiment.start({"run", "e.yaml", "--dir", "exp"});
  INFO(experiment.await_end());
  CHECK(experiment.code() == 0);
  experiment.check_all_succeeded(8);
  std::set<std::string> jobs;
  for (const std::string& line : experiment.lines("ran")) jobs.insert(line.substr(6));
  return jobs;
}

TEST_CASE("slurm: an experiment with one job for each trial") {
  CHECK(jobs_of_eight("{mode: jobs}\n").size() == 8);
}

TEST_CASE("slurm: an experiment with pilots") {
  CHECK(jobs_of_eight("{mode: pilots, maxJobs: 2, pilot: {cpu: 2}}\n").size() <= 2);
}

TEST_CASE("slurm: a node that goes down loses its trials which are tried again") {
  const std::string mode = GENERATE("{mode: jobs, poll: 1}", "{mode: pilots, poll: 1}");
  SlurmExperiment experiment(kGated, std::string(kEight) + "retries: {lost: 3}\nslurm: " + mode);
  experiment.start({"run", "e.yaml", "--dir", "exp"});
  REQUIRE(experiment.await([&] { return experiment.lines("ran").size() == 8; }));
  const std::string node =
      experiment.lines("ran").front().substr(experiment.lines("ran").front().rfind(' ') + 1);
  int there = 0;
  for (const std::string& line : experiment.lines("ran")) there += line.ends_with(node) ? 1 : 0;
  slurm_world().run("scontrol", {"update", "nodename=" + node, "state=down", "reason=test"});
  const auto again = static_cast<std::size_t>(8 + there);
  CHECK(experiment.await([&] { return experiment.lines("ran").size() == again; }));
  experiment.touch("go");
  INFO(experiment.await_end());
  CHECK(experiment.code() == 0);
  experiment.check_all_succeeded(8);
  CHECK(experiment.lost() == there);
  slurm_world().run("scontrol", {"update", "nodename=" + node, "state=resume"});
  slurm_world().await_idle_nodes();
}

TEST_CASE("slurm: a partition that there is not fails the trials with a readable text") {
  SlurmExperiment experiment(kQuick,
                             "trialConcurrency: 2\nmaxTrialNumber: 2\nbackend: slurm\n"
                             "slurm: {partition: nowhere}\n");
  experiment.start({"run", "e.yaml", "--dir", "exp"});
  INFO(experiment.await_end());
  const auto trials = experiment.trials();
  REQUIRE(trials.size() == 2);
  for (const StoredTrial& trial : trials) {
    CHECK(trial.trial.status == TrialStatus::failed);
    CHECK_THAT(trial.trial.reason, Contains("partition") && Contains("nowhere"));
  }
}

TEST_CASE("slurm: jobs that the controller forgets are submitted again") {
  SlurmWorld& world = slurm_world();
  REQUIRE(world.submit(slurm_job("before", "true")));
  world.await_saved("before");
  const auto in_the_way = world.path("state") / "job_state.new";
  std::filesystem::create_directory(in_the_way);
  SlurmExperiment experiment(kQuick,
                             "trialConcurrency: 2\nmaxTrialNumber: 2\nbackend: slurm\n"
                             "slurm: {poll: 1, arguments: [--begin=now+6]}\n");
  experiment.start({"run", "e.yaml", "--dir", "exp"});
  REQUIRE(experiment.await([&] { return experiment.log_says(" is submitted as ", 2); }));
  world.kill_controller();
  std::filesystem::remove(in_the_way);
  world.start_controller();
  INFO(experiment.await_end());
  CHECK(experiment.code() == 0);
  CHECK(experiment.log_says("was forgotten by the batch system", 2));
  experiment.check_all_succeeded(2);
}

TEST_CASE("slurm: a manager and a coordinator that are killed find their jobs again") {
  const bool both = GENERATE(false, true);
  SlurmExperiment experiment(kGated, std::string(kEight) + "slurm: {mode: jobs, poll: 1}\n");
  auto process = experiment.start({"run", "e.yaml", "--dir", "exp"});
  REQUIRE(experiment.await([&] { return experiment.lines("ran").size() == 8; }));
  process->kill();
  experiment.await_end();
  if (both) experiment.kill_coordinator();
  process = experiment.start({"resume", "--dir", "exp"});
  REQUIRE(experiment.await(
      [&] { return experiment.text("err").find("connected to") != std::string::npos; }));
  experiment.touch("go");
  INFO(experiment.await_end());
  CHECK(experiment.code() == 0);
  experiment.check_all_succeeded(8);
  CHECK(experiment.lines("ran").size() == 8);
}

}  // namespace attune::slurm_experiment_test
