// The same experiment and seed lead to the same trials, also as jobs.
#include "tests/manager/app/same_experiment.h"
#include "tests/slurm/slurm_world.h"

namespace attune::slurm_same_test {

TEST_CASE("slurm: one seed leads to the same trials as on this machine") {
  ProgramFolder folder;
  folder.environment = {"SLURM_CONF=" + slurm_world().path("slurm.conf").string()};
  const auto sequence = [&](const std::string& dir, const std::string& backend) {
    write_same_experiment(folder, backend);
    const Run run = folder.run({"run", "e.yaml", "--dir", dir});
    INFO(run.err);
    REQUIRE(run.code == 0);
    return sequence_of(folder, dir);
  };
  const auto local = sequence("local", "backend: local\n");
  REQUIRE(local.size() == kSameTrials);
  CHECK(sequence("jobs", "backend: slurm\nslurm: {mode: jobs}\n") == local);
  CHECK(sequence("pilots", "backend: slurm\nslurm: {mode: pilots}\n") == local);
}

}  // namespace attune::slurm_same_test
