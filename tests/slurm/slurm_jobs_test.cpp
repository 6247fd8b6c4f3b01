// Jobs that go in and come out, as Slurm itself has it.
#include <catch2/catch.hpp>
#include <fstream>

#include "tests/slurm/slurm_world.h"

namespace attune::slurm_jobs_test {

std::string text_of(const std::filesystem::path& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

TEST_CASE("slurm: a job ends as its script does") {
  SlurmWorld& world = slurm_world();
  const auto output = world.path("100% sure");
  BatchJob job = slurm_job("ends-0", "echo \"in $PWD on $SLURM_CPUS_PER_TASK\"");
  job.output = output;
  job.directory = world.path("log");
  job.needs = {2, 0, 100e6, {{"card", 1}}};
  job.comment = "with spaces, and commas";
  REQUIRE(world.submit(job));
  REQUIRE(world.submit(slurm_job("ends-7", "exit 7")));
  REQUIRE(world.submit(slurm_job("ends-by-kill", "kill -9 $$")));
  CHECK(world.wait_for_phase("ends-0", BatchPhase::ended).cause == BatchCause::completed);
  CHECK(world.wait_for_phase("ends-7", BatchPhase::ended).cause == BatchCause::failed);
  CHECK(world.wait_for_phase("ends-by-kill", BatchPhase::ended).cause == BatchCause::failed);
  CHECK(text_of(output) == "in " + world.path("log").string() + " on 2\n");
  const std::string known = world.run("scontrol", {"-o", "show", "job"}).output;
  CHECK(known.find("JobName=ends-7 ") != std::string::npos);
  CHECK(known.find("ExitCode=7:0") != std::string::npos);
  CHECK(known.find("ExitCode=0:9") != std::string::npos);
  CHECK(known.find("with spaces, and commas") != std::string::npos);
  CHECK(known.find("gres:card:1") != std::string::npos);
}

TEST_CASE("slurm: a name is submitted once running or ended") {
  SlurmWorld& world = slurm_world();
  const BatchSubmission first = world.submit(slurm_job("once", "sleep 100"));
  REQUIRE(first);
  CHECK_FALSE(first->found);
  const BatchSubmission again = world.submit(slurm_job("once", "sleep 100"));
  REQUIRE(again);
  CHECK(again->found);
  CHECK(again->id == first->id);
  REQUIRE(world.cancel("once"));
  CHECK(world.wait_for_phase("once", BatchPhase::ended).cause == BatchCause::cancelled);
  CHECK(world.submit(slurm_job("once", "true"))->id == first->id);
}

TEST_CASE("slurm: cancel ends jobs that run and that wait and nobody is an error") {
  SlurmWorld& world = slurm_world();
  BatchJob held = slurm_job("cancel-held", "true");
  held.arguments = {"--hold"};
  REQUIRE(world.submit(held));
  REQUIRE(world.submit(slurm_job("cancel-running", "sleep 100")));
  REQUIRE(world.submit(slurm_job("cancel-other", "sleep 100")));
  const auto state = world.wait_for_phase("cancel-held", BatchPhase::pending);
  CHECK(state.stuck.find("JobHeldUser") != std::string::npos);
  world.wait_for_phase("cancel-running", BatchPhase::running);
  CHECK(world.cancel("cancel-held"));
  CHECK(world.cancel("cancel-running"));
  CHECK(world.cancel("nobody"));
  CHECK(world.wait_for_phase("cancel-held", BatchPhase::ended).cause == BatchCause::cancelled);
  CHECK(world.wait_for_phase("cancel-running", BatchPhase::ended).cause == BatchCause::cancelled);
  CHECK(world.wait_for_phase("cancel-other", BatchPhase::running).phase == BatchPhase::running);
  CHECK(world.cancel("cancel-other"));
}

TEST_CASE("slurm: a job starts without the login shell of the user") {
  SlurmWorld& world = slurm_world();
  BatchJob job = slurm_job("no-login", "echo \"${SLURM_GET_USER_ENV:-none} $PATH\"");
  job.output = world.path("no-login-output");
  REQUIRE(world.submit(job));
  world.wait_for_phase("no-login", BatchPhase::ended);
  CHECK(text_of(job.output).starts_with("none "));
}

TEST_CASE("slurm: refusals say what to change") {
  SlurmWorld& world = slurm_world();
  const auto refused = [&](const std::string& about, const auto& change) {
    BatchJob job = slurm_job("refused-" + about, "true");
    change(job);
    const BatchSubmission answer = world.submit(job);
    INFO(about);
    REQUIRE_FALSE(answer);
    INFO(answer.error().message);
    CHECK(answer.error().permanent);
    CHECK(answer.error().about == about);
  };
  refused("partition", [](BatchJob& job) { job.partition = "nope"; });
  refused("resources.cpu", [](BatchJob& job) { job.needs.cpu = 5; });
  refused("resources.memory", [](BatchJob& job) { job.needs.memory = 1e12; });
  refused("resources", [](BatchJob& job) { job.needs.custom["card"] = 3; });
  refused("timeLimit", [](BatchJob& job) { job.time_limit = 1e6; });
  refused("arguments", [](BatchJob& job) { job.arguments = {"--constraint=fast"}; });
  refused("arguments", [](BatchJob& job) { job.arguments = {"--no-such-option"}; });
  refused("output", [](BatchJob& job) { job.output = "output"; });
}

}  // namespace attune::slurm_jobs_test
