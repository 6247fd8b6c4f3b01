#include "manager/cli/commands/adopt.h"

#include <catch2/catch.hpp>
#include <fstream>

#include "manager/experiment/experiment_file.h"
#include "manager/interchange/import_file.h"
#include "os/atomic_file.h"
#include "tests/manager/cli/printed.h"
#include "tests/support/temporary_folder.h"

namespace attune::adopt_test {

using Catch::Contains;

struct World {
  World() {
    std::ofstream(folder.path / "study.log")
        << R"({"op_code": 0, "study_name": "net", "directions": [2]})"
        << "\n"
        << R"({"op_code": 4, "study_id": 0, "datetime_start": null, "state": 1, "value": 0.5, )"
        << R"("params": {"x": 0.25}, "distributions": {"x": "{\"name\": \"FloatDistribution\", )"
        << R"(\"attributes\": {\"low\": 0, \"high\": 1, \"log\": false, \"step\": null}}"}})"
        << "\n";
    options.file = (folder.path / "study.log").string();
    options.output = (folder.path / "net.yaml").string();
    options.trial_command = "python3 train.py --x {x}";
  }
  TemporaryFolder folder;
  AdoptOptions options;
  Printed printed;
};

TEST_CASE("adopt: an experiment file that can be run, and results that can be imported") {
  World world;
  REQUIRE(adopt(world.options, world.printed.console) == kExitOk);
  CHECK_THAT(world.printed.out(), Contains("1 trials, 1 with a result") &&
                                      Contains("attune run " + world.options.output + " --import"));
  const Experiment experiment = read_experiment_file(world.options.output, "").value();
  CHECK(experiment.name == "net");
  CHECK(experiment.objectives.front().maximize);
  const auto records = read_import_file(world.folder.path / "net.jsonl").value();
  REQUIRE(records.size() == 1);
  CHECK(records[0].parameter == json{{"x", 0.25}});
  CHECK(records[0].value == 0.5);
  CHECK(records[0].trial_job_id == "optuna-0");
}

TEST_CASE("adopt: without a command the file says what it lacks, and nothing is written over") {
  World world;
  world.options.trial_command.clear();
  world.options.json = true;
  REQUIRE(adopt(world.options, world.printed.console) == kExitOk);
  CHECK(parse_json(world.printed.out()).value()["with_result"] == 1);
  CHECK_THAT(read_file(world.options.output).value(), Contains("# It needs trialCommand"));
  CHECK_THAT(adopt(world.options, world.printed.console).error().message,
             Contains("net.yaml exists; name another experiment file with -o"));
  std::filesystem::remove(world.options.output);
  CHECK_THAT(adopt(world.options, world.printed.console).error().message,
             Contains("net.jsonl exists"));
  CHECK_FALSE(std::filesystem::exists(world.options.output));
}

}  // namespace attune::adopt_test
