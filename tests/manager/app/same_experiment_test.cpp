// The same experiment and seed lead to the same trials, whoever runs them. With a real Slurm:
// tests/slurm.
#include "tests/manager/app/same_experiment.h"

#include <set>

namespace attune::same_experiment_test {

TEST_CASE("one seed leads to the same trials on this machine and in a pool and simulated") {
  const ProgramFolder local, pool;
  write_same_experiment(local, "backend: local\n");
  write_same_experiment(pool, "backend: pool\npool: {workers: 1}\n");
  Run run = local.run({"run", "e.yaml", "--dir", "exp"});
  INFO(run.err);
  REQUIRE(run.code == 0);
  run = local.run({"simulate", "e.yaml", "--dir", "simulated"});
  INFO(run.err);
  REQUIRE(run.code == 0);
  run = pool.run({"run", "e.yaml", "--dir", "exp"});
  INFO(run.err);
  REQUIRE(run.code == 0);
  const auto sequence = sequence_of(local, "exp");
  REQUIRE(sequence.size() == kSameTrials);
  CHECK(std::set(sequence.begin(), sequence.end()).size() > 3);
  CHECK(sequence_of(local, "simulated") == sequence);
  CHECK(sequence_of(pool, "exp") == sequence);
}

}  // namespace attune::same_experiment_test
