// What Slurm notices only after half a minute or more: ctest -C long -R "slurm: slow faults".
#include <catch2/catch.hpp>

#include "tests/slurm/slurm_experiment.h"

namespace attune::slurm_long_test {

using Catch::Matchers::Contains;

constexpr const char* kTwo =
    "trialConcurrency: 2\nmaxTrialNumber: 2\nbackend: slurm\nretries: {lost: 3}\n";

// Slurm looks at the limits every 30 s, and the shortest is a minute.
TEST_CASE("slurm: the time limit", "[.long]") {
  // Warned a second after the start, at the next look; and not warned at all.
  SlurmExperiment warned(kSaving,
                         std::string(kTwo) + "slurm: {poll: 1, timeLimit: 1m, signalBefore: 59s}");
  SlurmExperiment killed(kSaving, std::string(kTwo) + "slurm: {poll: 1, timeLimit: 1m}");
  warned.start({"run", "e.yaml", "--dir", "exp"});
  killed.start({"run", "e.yaml", "--dir", "exp"});
  REQUIRE(warned.await([&] { return warned.lines("ran").size() == 4; }));
  warned.touch("go");
  INFO(warned.await_end());
  CHECK(warned.code() == 0);
  warned.check_all_succeeded(2);
  CHECK(warned.lines("resumed").size() == 2);
  CHECK(warned.lost() == 2);
  CHECK_THAT(warned.lost_because(), Contains("time limit is near"));

  REQUIRE(killed.await([&] { return killed.lines("ran").size() == 4; }, 120));
  killed.touch("go");
  INFO(killed.await_end());
  CHECK(killed.code() == 0);
  killed.check_all_succeeded(2);
  CHECK(killed.lost() == 2);
}

TEST_CASE("slurm: a node whose daemon is killed for good keeps what runs", "[.long]") {
  SlurmWorld& world = slurm_world();
  SlurmExperiment experiment(kGated, std::string(kTwo) + "slurm: {poll: 1}");
  experiment.start({"run", "e.yaml", "--dir", "exp"});
  REQUIRE(experiment.await([&] { return experiment.lines("ran").size() == 2; }));
  const std::string node = experiment.node(0);
  world.kill_node_daemon(node);
  const std::string job = experiment.ran(0).second;
  CHECK(world.wait_for_phase(job, BatchPhase::ended).cause == BatchCause::node_failed);
  // Slurm has given it up; its worker is here, and says more.
  experiment.touch("go");
  INFO(experiment.await_end());
  CHECK(experiment.code() == 0);
  experiment.check_all_succeeded(2);
  CHECK(experiment.lines("ran").size() == 2);
  world.start_node_daemon(node);
  world.await_idle_nodes();
}

TEST_CASE("slurm: a worker that is killed together with its step daemon is given up", "[.long]") {
  const std::string mode = GENERATE("{mode: jobs, poll: 1}", "{mode: pilots, poll: 1, maxJobs: 2}");
  SlurmExperiment experiment(kGated, std::string(kTwo) + "slurm: " + mode);
  experiment.start({"run", "e.yaml", "--dir", "exp"});
  REQUIRE(experiment.await([&] { return experiment.lines("ran").size() == 2; }));
  const auto [trial, job] = experiment.ran(0);
  const std::string id = slurm_world().run("squeue", {"-h", "-o", "%i", "--name=" + job}).output;
  REQUIRE(experiment.kill_all_with("slurmstepd: [" + id.substr(0, id.find('\n')) + ".batch]") == 1);
  REQUIRE(experiment.kill_all_with(" --name " + job + " ") == 1);
  REQUIRE(experiment.await([&] { return experiment.lines("ran").size() == 3; }));
  experiment.touch("go");
  INFO(experiment.await_end());
  CHECK(experiment.code() == 0);
  experiment.check_all_succeeded(2);
  CHECK(experiment.lost() == 1);
  CHECK(experiment.log_says("cannot be heard", 1));
  slurm_world().await_idle_nodes();
}

}  // namespace attune::slurm_long_test
