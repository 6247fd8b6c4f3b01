// What a run says of trials that failed.
#include <catch2/catch.hpp>

#include "base/json.h"
#include "tests/manager/app/program_folder.h"

namespace attune::program_failures_test {

using Catch::Matchers::Contains;

TEST_CASE("attune run: the summary says why trials failed") {
  const ProgramFolder folder;
  folder.write("[ $NNI_TRIAL_SEQ_ID = 0 ] && { report FINAL 1; exit 0; }; echo boom >&2; exit 3");
  const Run run = folder.run_experiment();
  CAPTURE(run.err);
  CHECK(run.code == 0);
  CHECK_THAT(run.out, Contains("Commonest failures:\n - 2 trials: exit code 3: boom\n"
                               "   attune logs t0002 --stderr --dir " +
                               (folder.path / "exp").string() + "\n"));
  const json status = parse_json(folder.run({"status", "--dir", "exp", "--json"}).out).value();
  REQUIRE(status["failure_causes"].size() == 1);
  CHECK(status["failure_causes"][0]["count"] == 2);
}

}  // namespace attune::program_failures_test
