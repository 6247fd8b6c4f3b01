#include "trial/trial_main.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <stdexcept>

#include "tests/trial/trial_folder.h"
#include "trial/process_reporter.h"

namespace attune::trial_main_test {

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

constexpr int kFiles = 30;  // several: a kill lands between two of them

// Saves the same step twice, and a lower one after a higher one, for ever; a byte for each that is
// about to be named.
[[noreturn]] void save_for_ever(int told) {
  Trial trial = Trial::from_environment().value();
  ProcessReporter reporter(trial);
  while (true) {
    for (const int step : {10, 0, 0}) {
      const auto path = reporter.make_checkpoint_dir(step);
      for (int i = 0; i < kFiles; ++i) std::ofstream(path / std::to_string(i)) << step;
      if (::write(told, "x", 1) != 1) ::_exit(1);
      reporter.set_checkpoint(path);
    }
  }
}

TEST_CASE("a process that is killed while it saves leaves a whole checkpoint") {
  const ManagedFolder folder;
  int ends[2] = {};
  REQUIRE(::pipe(ends) == 0);
  for (int kill = 0; kill < 20; ++kill) {
    const pid_t child = ::fork();
    REQUIRE(child >= 0);
    if (child == 0) save_for_ever(ends[1]);
    char byte = 0;
    for (int saved = 0; saved < 2 + kill % 4; ++saved) REQUIRE(::read(ends[0], &byte, 1) == 1);
    ::kill(child, SIGKILL);  // SIGTERM would be Catch's
    REQUIRE(::waitpid(child, nullptr, 0) == child);

    Trial trial = Trial::from_environment().value();
    const ProcessReporter reporter(trial);
    const CheckpointDir newest = reporter.newest_checkpoint();
    REQUIRE(newest);
    REQUIRE(std::distance(std::filesystem::directory_iterator(*newest), {}) == kFiles);
  }
  ::close(ends[0]);
  ::close(ends[1]);
}

// What a machine that failed between the two renamings of a folder leaves.
TEST_CASE("a checkpoint that was put aside for its successor comes back") {
  const ManagedFolder folder;
  folder.write("checkpoint/.partial/replaced_checkpoint_0/x", "old");
  folder.write("checkpoint/.partial/checkpoint_0/x", "new, and not named");
  folder.write("checkpoint/.partial/replaced_checkpoint_1/x", "old");
  folder.write("checkpoint/checkpoint_1/x", "new");
  Trial trial = Trial::from_environment().value();
  const ProcessReporter reporter(trial);
  CHECK(folder.files() == Strings{".nni/metrics", "checkpoint/checkpoint_0/x",
                                  "checkpoint/checkpoint_1/x", "parameter.cfg"});
  CHECK(folder.text("checkpoint/checkpoint_0/x") == "old");
  CHECK(folder.text("checkpoint/checkpoint_1/x") == "new");
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

}  // namespace attune::trial_main_test
