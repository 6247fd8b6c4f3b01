// attune run with learnFrom: an experiment that begins with what another one found.
#include <fmt/format.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <filesystem>

#include "base/json.h"
#include "tests/manager/app/program_folder.h"

namespace attune::learn_from_test {

// An experiment NAME.yaml whose trials report their x.
void write(const ProgramFolder& folder, const std::string& name, const std::string& more) {
  folder.write("report FINAL {x}", "trialConcurrency: 2\n");
  std::ofstream(folder.path / (name + ".yaml"))
      << "experimentName: " << name
      << "\nsearchSpace: {x: {_type: uniform, _value: [0, 1]}}\n"
         "trialConcurrency: 2\ntrialCommand: |\n  . ./report.sh\n  report FINAL {x}\n"
      << more;
}

std::vector<TrialRecord> trials_of(const ProgramFolder& folder, const std::string& name) {
  StoreReader reader = StoreReader::open(folder.path / "attune-experiments").value();
  return reader.trials(reader.find(name).value(), {}).value();
}

double x_of(const TrialRecord& trial) { return trial.proposed.parameters["x"]; }

TEST_CASE("learnFrom: the next experiment tries the best of the first one first") {
  ProgramFolder folder;
  write(folder, "first",
        "maxTrialNumber: 8\nseed: 3\n"
        "tuner: {name: Random, classArgs: {optimize_mode: maximize}}\n");
  REQUIRE(folder.run({"run", "first.yaml"}).code == 0);
  double best = 0;
  for (const TrialRecord& trial : trials_of(folder, "first")) best = std::max(best, x_of(trial));

  write(folder, "second",
        "maxTrialNumber: 6\nseed: 4\nlearnFrom: [first]\n"
        "tuner: {name: GP, classArgs: {optimize_mode: maximize}}\n");
  const Run run = folder.run({"run", "second.yaml"});
  CAPTURE(run.err);
  REQUIRE(run.code == 0);
  CHECK_THAT(run.err, Catch::Contains("learns from 8 results of experiment first"));
  const auto trials = trials_of(folder, "second");
  REQUIRE(trials.size() == 6);
  CHECK(std::ranges::any_of(trials, [&](const TrialRecord& each) { return x_of(each) == best; }));

  // The name now also means the second one, but a resumed experiment knows the folder.
  const Run resumed =
      folder.run({"resume", "second", "--dir", "attune-experiments", "--max-trials", "8"});
  CAPTURE(resumed.err);
  CHECK(resumed.code == 0);
  CHECK_THAT(resumed.err, !Catch::Contains("could not go on"));
  CHECK(trials_of(folder, "second").size() == 8);
}

TEST_CASE("learnFrom: an experiment is found in a copy of its working directory") {
  ProgramFolder folder;
  const std::string random =
      "seed: 3\ntuner: {name: Random, classArgs: {optimize_mode: maximize}}\n";
  write(folder, "first", "maxTrialNumber: 4\n" + random);
  REQUIRE(folder.run({"run", "first.yaml"}).code == 0);
  write(folder, "newer", "maxTrialNumber: 1\n" + random);
  REQUIRE(folder.run({"run", "newer.yaml"}).code == 0);
  const auto working = folder.path / "attune-experiments";
  const std::string id = StoreReader::open(working).value().find("first").value().id;
  std::filesystem::copy(
      working, folder.path / "copy",
      std::filesystem::copy_options::recursive | std::filesystem::copy_options::copy_symlinks);

  const std::string gp = "tuner: {name: GP, classArgs: {optimize_mode: maximize}}\n";
  write(folder, "second", "maxTrialNumber: 1\nlearnFrom: [./copy/" + id + "]\n" + gp);
  const Run run = folder.run({"run", "second.yaml"});
  CAPTURE(run.err);
  REQUIRE(run.code == 0);
  CHECK_THAT(run.err, Catch::Contains("learns from 4 results of experiment first"));

  // What cannot be read any more is told, and the rest is used.
  write(folder, "third", "maxTrialNumber: 1\nlearnFrom: [./copy/" + id + ", newer]\n" + gp);
  REQUIRE(folder.run({"run", "third.yaml"}).code == 0);
  std::filesystem::remove_all(folder.path / "copy");
  const Run resumed =
      folder.run({"resume", "third", "--dir", "attune-experiments", "--max-trials", "2"});
  CAPTURE(resumed.err);
  CHECK(resumed.code == 0);
  CHECK_THAT(resumed.err, Catch::Contains("learnFrom[0]: ") &&
                              Catch::Contains("nothing is lost, unless the daemon") &&
                              !Catch::Contains("learnFrom[1]: "));
}

TEST_CASE("learnFrom: what cannot be used is said") {
  ProgramFolder folder;
  SECTION("an experiment that is not there") {
    write(folder, "second", "maxTrialNumber: 2\nlearnFrom: [./nowhere]\n");
    const Run run = folder.run({"run", "second.yaml"});
    CHECK(run.code == 2);
    CHECK_THAT(run.err, Catch::Contains("learnFrom[0]: "));
  }
  SECTION("a tuner that cannot learn") {
    write(folder, "second", "maxTrialNumber: 2\nlearnFrom: [./nowhere]\ntuner: {name: Random}\n");
    const Run run = folder.run({"run", "second.yaml"});
    CHECK(run.code == 0);
    CHECK_THAT(run.err, Catch::Contains("learnFrom: it has no effect: the tuner cannot learn from "
                                        "earlier experiments; auto, GP, TuRBO and ensemble can"));
    const Run resumed =
        folder.run({"resume", "second", "--dir", "attune-experiments", "--max-trials", "3"});
    CHECK(resumed.code == 0);
    CHECK_THAT(resumed.err, !Catch::Contains("learnFrom"));
  }
  SECTION("no list") {
    write(folder, "second", "maxTrialNumber: 2\nlearnFrom: 3\n");
    const Run run = folder.run({"run", "second.yaml"});
    CHECK(run.code == 2);
    CHECK_THAT(run.err, Catch::Contains("learnFrom"));
  }
}

}  // namespace attune::learn_from_test
