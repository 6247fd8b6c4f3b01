#include "trial/trial_main.h"

#include <stdexcept>

#include "tests/trial/trial_folder.h"
#include "trial/process_reporter.h"

namespace attune {
namespace {

using Strings = std::vector<std::string>;

TEST_CASE("a function as a process: what it returns is final, or else its last report") {
  const ManagedFolder folder;
  const auto finals = [&](const TrialFunction& function) {
    std::filesystem::remove(folder.path / ".nni/metrics");
    CHECK(run_trial(function) == 0);
    return folder.values("FINAL");
  };
  CHECK(finals([](const json& config) { return config.at("lr").get<double>() * 2; }) ==
        Strings{"0.02"});
  CHECK(finals([](const json&, StatusReporter& reporter) {
          CHECK(reporter.trial_id() == "t0003");
          reporter(1);
          reporter.report({{"default", 2}});
        }) == Strings{R"({"default":2})"});
  CHECK(folder.values("PERIODICAL") == Strings{"1", R"({"default":2})"});
  CHECK(finals([](const json&, StatusReporter& reporter) {
          reporter(1);
          return json{{"default", 3}};
        }) == Strings{R"({"default":3})"});
}

TEST_CASE("a function as a process: what goes wrong is exit code 1") {
  ManagedFolder folder;
  CHECK(run_trial([](const json&) {}) == 1);
  CHECK(run_trial([](const json&) -> double { throw std::runtime_error("boom"); }) == 1);
  CHECK(run_trial([](const json&) -> double { throw 3; }) == 1);
  CHECK(run_trial([](const json&, StatusReporter& reporter) { reporter("text"); }) == 1);
  CHECK(folder.values("FINAL").empty());
  folder.environment.set("NNI_SYS_DIR", "");
  CHECK(run_trial([](const json&) { return 1; }) == 1);
}

TEST_CASE("a function as a process goes on from its newest checkpoint") {
  const ManagedFolder folder;
  const auto steps = [&](int count) {
    int first = -1;
    const auto train = [&](const json&, StatusReporter& reporter, const CheckpointDir& from) {
      int step = 0;
      if (from) {
        std::ifstream(*from / "step") >> step;
        ++step;
      }
      first = step;
      for (const int end = step + count; step < end; ++step) {
        const auto path = reporter.make_checkpoint_dir(step);
        std::ofstream(path / "step") << step;
        // What is not whole yet is nothing that an attempt would start from.
        CHECK_FALSE(std::filesystem::exists(folder.path / "checkpoint" /
                                            ("checkpoint_" + std::to_string(step))));
        reporter.set_checkpoint(step % 2 == 0 ? path : path / "step");
        reporter(step);
      }
      // Begun and not named.
      std::ofstream(reporter.make_checkpoint_dir(1000) / "step") << 1000;
    };
    CHECK(run_trial(train) == 0);
    return first;
  };
  CHECK(steps(3) == 0);
  CHECK(steps(9) == 3);
  CHECK(steps(1) == 12);
  CHECK(folder.files() == Strings{".nni/metrics", "checkpoint/.partial/checkpoint_1000/step",
                                  "checkpoint/checkpoint_11/step", "checkpoint/checkpoint_12/step",
                                  "parameter.cfg"});
}

TEST_CASE("a reporter of a process refuses checkpoints that are none") {
  ManagedFolder folder;
  {
    Trial trial = Trial::from_environment().value();
    ProcessReporter reporter(trial);
    CHECK_THROWS_AS(reporter.make_checkpoint_dir(-1), std::runtime_error);
    CHECK_THROWS_AS(reporter.set_checkpoint(folder.path), std::runtime_error);
    CHECK_THROWS_AS(reporter.set_checkpoint(folder.path / "checkpoint/.partial/checkpoint_7"),
                    std::runtime_error);
    // A function that counts anew: what it saves now is the newest.
    for (const int step : {5, 6, 1}) reporter.set_checkpoint(reporter.make_checkpoint_dir(step));
    CHECK(reporter.newest_checkpoint() == folder.path / "checkpoint/checkpoint_1");
  }
}

TEST_CASE("a function that saves runs also where nobody keeps checkpoints") {
  ManagedFolder folder;
  folder.environment.set("ATTUNE_CHECKPOINT_DIR", "");
  std::filesystem::path made;
  CHECK(run_trial([&](const json&, StatusReporter& reporter, const CheckpointDir& from) {
          CHECK_FALSE(from);
          made = reporter.make_checkpoint_dir(1);
          std::ofstream(made / "x") << "x";
          reporter.set_checkpoint(made);
          CHECK(std::filesystem::exists(made.parent_path().parent_path() / "checkpoint_1/x"));
          return 1;
        }) == 0);
  CHECK_FALSE(std::filesystem::exists(made.parent_path().parent_path()));
}

}  // namespace
}  // namespace attune
