#include "manager/experiment/preparation.h"

#include <stdlib.h>

#include <catch2/catch.hpp>
#include <fstream>

namespace attune::preparation_test {

Experiment experiment(json tuner, json assessor = nullptr) {
  Experiment result;
  result.tuner = std::move(tuner);
  result.assessor = std::move(assessor);
  return result;
}

TEST_CASE("preparation: the seed is the command line's, the file's, the tuner's, or drawn") {
  Experiment e = experiment({{"name", "TPE"}});
  CHECK(settle_seed(std::nullopt, 99, e) == 99);
  CHECK(e.tuner["classArgs"]["seed"] == 99);
  CHECK(settle_seed(std::nullopt, 1, e) == 99);  // there is one now
  e.seed = 5;
  CHECK(settle_seed(std::nullopt, 1, e) == 5);
  CHECK(settle_seed(7, 1, e) == 7);
  CHECK(e.tuner["classArgs"]["seed"] == 7);

  Experiment own = experiment({{"className", "my.Tuner"}});
  CHECK(settle_seed(std::nullopt, 99, own) == 0);
  CHECK_FALSE(own.tuner["classArgs"].contains("seed"));
  CHECK(settle_seed(7, 99, own) == 7);

  Experiment advisor;
  advisor.advisor = {{"name", "BOHB"}, {"classArgs", nullptr}};
  CHECK(settle_seed(std::nullopt, 3, advisor) == 3);
  CHECK(advisor.tuner.is_null());
}

TEST_CASE("preparation: the direction, and a warning when tuner and assessor disagree") {
  const auto settle = [](const Experiment& e) { return settle_direction(e, FAKE_DAEMON, {}); };
  const json maximize = {{"optimize_mode", "maximize"}}, minimize = {{"optimize_mode", "minimize"}};
  CHECK(settle(experiment({{"name", "Any"}, {"classArgs", maximize}}))->objective.maximize);
  CHECK_FALSE(settle(experiment({{"name", "TPE"}}))->objective.maximize);
  // Unknown to the list: the daemon will refuse it in better words.
  CHECK(settle(experiment({{"name", "TEP"}})).has_value());
  CHECK_FALSE(settle(experiment({{"className", "my.Tuner"}})).has_value());
  const json stop = {{"name", "Medianstop"}, {"classArgs", maximize}};
  CHECK(settle(experiment({{"name", "A"}, {"classArgs", maximize}}, stop))->warning.empty());
  CHECK_FALSE(settle(experiment({{"name", "A"}, {"classArgs", minimize}}, stop))->warning.empty());
  CHECK_FALSE(settle(experiment({{"name", "TPE"}}, stop))->warning.empty());
}

TEST_CASE("preparation: objectives name the metric and its direction") {
  Experiment e = experiment({{"name", "TPE"}});
  e.objectives = {{"accuracy", true}, {"seconds", false}};
  const auto direction = settle_direction(e, "/nowhere", {});
  REQUIRE(direction);
  CHECK(direction->objective.metric == "accuracy");
  CHECK(direction->objective.maximize);
}

TEST_CASE("preparation: a folder belongs to one run") {
  char name[] = "/tmp/attune-test-XXXXXX";
  const std::filesystem::path folder = ::mkdtemp(name);
  CHECK(claim_directory(folder / "a" / "b").has_value());
  CHECK(claim_directory(folder / "a" / "b").has_value());  // nothing was run in it
  std::filesystem::create_directories(folder / "a" / "b" / "trials" / "t0000");
  CHECK_FALSE(claim_directory(folder / "a" / "b").has_value());
  std::ofstream(folder / "file") << "x";
  CHECK_FALSE(claim_directory(folder / "file").has_value());
  std::filesystem::remove_all(folder);
}

}  // namespace attune::preparation_test
