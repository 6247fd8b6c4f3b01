#include "manager/app/job_environment.h"

#include <catch2/catch.hpp>

#include "tests/support/temporary_folder.h"

namespace attune::job_environment_test {

using Texts = std::vector<std::string>;

TEST_CASE("job environment: what belongs to the job is the node's and all else is the user's") {
  const TemporaryFolder folder;
  const std::filesystem::path file = folder.path / "environment";
  const Texts node = {"PATH=/node", "SLURM_JOB_ID=2", "TMPDIR=/job", "CUDA_VISIBLE_DEVICES=1"};
  REQUIRE(write_environment(file, {"PATH=/user", "SLURM_JOB_ID=1", "TMPDIR=/login", "A=b\nc"}));
  CHECK(job_environment(file, node) ==
        Texts{"PATH=/user", "A=b\nc", "SLURM_JOB_ID=2", "TMPDIR=/job", "CUDA_VISIBLE_DEVICES=1"});
  CHECK(job_environment("", node) == node);
  CHECK_FALSE(job_environment(folder.path / "missing", node));
}

}  // namespace attune::job_environment_test
