#include "backends/simulated/simulation_settings.h"

#include <stdlib.h>

#include <catch2/catch.hpp>
#include <fstream>

namespace attune::simulation_settings_test {

namespace fs = std::filesystem;

const SimulatedExperiment kExperiment = {
    .search_space = json{{"x", {{"_type", "uniform"}, {"_value", {0, 1}}}}},
    .objective = "accuracy",
    .maximize = true,
    .seed = 9,
    .directory = "/experiment"};

TEST_CASE("simulation settings: without a section everything has its default") {
  const auto settings = read_simulation(json(), kExperiment);
  REQUIRE(settings.has_value());
  CHECK(settings->curves.empty());
  CHECK(settings->generated.search_space == kExperiment.search_space);
  CHECK(settings->generated.seed == 9);
  CHECK(settings->generated.maximize);
  CHECK(settings->backend.metric == "accuracy");
  CHECK(settings->generated.epochs == GeneratedCurvesOptions().epochs);
  CHECK(settings->generated.noise == GeneratedCurvesOptions().noise);
  CHECK(settings->generated.epoch_seconds == GeneratedCurvesOptions().epoch_seconds);
  CHECK(settings->generated.seconds_ratio == GeneratedCurvesOptions().seconds_ratio);
  const SimulatedBackendOptions defaults;
  CHECK(settings->backend.delays.start == defaults.delays.start);
  CHECK(settings->backend.delays.report == defaults.delays.report);
  CHECK(settings->backend.delays.end == defaults.delays.end);
  CHECK(settings->backend.delays.stop == defaults.delays.stop);
  CHECK(settings->backend.failures.fail_rate == 0);
  CHECK(settings->backend.failures.lost_rate == 0);
  CHECK_FALSE(settings->backend.failures.epoch.has_value());
  CHECK(settings->backend.seed == 9);
  CHECK(settings->backend.checkpoints);
  CHECK_FALSE(settings->backend.plain_metrics);
  CHECK(settings->backend.final_metric == SimulatedBackendOptions::Final::last);
  CHECK(settings->backend.maximize);
  CHECK(make_curves(*settings).value()->description() ==
        "generated learning curves of 81 epochs, seed 9");
}

TEST_CASE("simulation settings: every key is read") {
  const auto settings = read_simulation(json::parse(R"({
    "curves": "curves.json", "metric": "acc", "epochs": 9, "noise": 0, "epochSeconds": 60,
    "secondsRatio": 2, "seed": 3, "delays": {"start": 1, "report": 2, "end": 3, "stop": 4},
    "failRate": 0.25, "lostRate": 0.5, "failEpoch": 7, "checkpoints": false,
    "plainMetrics": true, "final": "best"})"),
                                        kExperiment);
  REQUIRE(settings.has_value());
  CHECK(settings->curves == "/experiment/curves.json");
  CHECK(settings->metric == "acc");
  CHECK(settings->generated.epochs == 9);
  CHECK(settings->generated.noise == 0);
  CHECK(settings->generated.epoch_seconds == 60);
  CHECK(settings->generated.seconds_ratio == 2);
  CHECK(settings->generated.seed == 3);
  CHECK(settings->backend.seed == 3);
  CHECK(settings->backend.delays.start == 1);
  CHECK(settings->backend.delays.report == 2);
  CHECK(settings->backend.delays.end == 3);
  CHECK(settings->backend.delays.stop == 4);
  CHECK(settings->backend.failures.fail_rate == 0.25);
  CHECK(settings->backend.failures.lost_rate == 0.5);
  CHECK(settings->backend.failures.epoch == 7);
  CHECK_FALSE(settings->backend.checkpoints);
  CHECK(settings->backend.plain_metrics);
  CHECK(settings->backend.final_metric == SimulatedBackendOptions::Final::best);
}

TEST_CASE("simulation settings: what is wrong is named") {
  struct Row {
    std::string section, message;
  };
  const Row row = GENERATE(values<Row>({
      {R"({"epoch": 3})", "did you mean \"epochs\"?"},
      {R"({"delays": {"begin": 3}})", "unknown argument \"begin\""},
      {R"({"delays": {"stop": -1}})", "stop"},
      {R"({"epochs": 0})", "epochs"},
      {R"({"final": "first"})", "one of last, best"},
      {R"({"failRate": 0.6, "lostRate": 0.6})", "more than 1 together"},
      {"[]", "an object"},
  }));
  const auto settings = read_simulation(json::parse(row.section), kExperiment);
  REQUIRE_FALSE(settings.has_value());
  CAPTURE(settings.error().message);
  CHECK(settings.error().message.starts_with("simulation"));
  CHECK(settings.error().message.find(row.message) != std::string::npos);
}

TEST_CASE("simulation settings: recorded curves come from their file") {
  char name[] = "/tmp/attune-test-XXXXXX";
  SimulatedExperiment experiment = kExperiment;
  experiment.directory = ::mkdtemp(name);
  std::ofstream(experiment.directory / "curves.json") << R"({"curves": [{"acc": [0.1, 0.2]}]})";
  const auto curves = make_curves(
      read_simulation({{"curves", "curves.json"}, {"metric", "acc"}}, experiment).value());
  REQUIRE(curves.has_value());
  CHECK((*curves)->curve({}, 0).value().values == std::vector<double>{0.1, 0.2});

  for (const char* missing : {"nowhere.json", "."}) {
    const auto none = make_curves(read_simulation({{"curves", missing}}, experiment).value());
    REQUIRE_FALSE(none.has_value());
    CHECK(none.error().message.find(experiment.directory.string()) != std::string::npos);
  }
  fs::remove_all(experiment.directory);
}

}  // namespace attune::simulation_settings_test
