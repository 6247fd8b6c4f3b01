// The whole daemon with a tuner that pauses, and a manager that can do everything or nothing of it,
// also when the daemon is killed in the middle.
#include <catch2/catch.hpp>
#include <csignal>
#include <filesystem>
#include <set>

#include "tests/support/daemon_process.h"
#include "tests/support/file_event.h"
#include "tests/support/small_manager.h"
#include "tests/support/transcript_text.h"

namespace attune::pause_test {

constexpr const char* kSpace = R"({"x":{"_type":"uniform","_value":[0,1]}})";

struct Search {
  Search(bool capable, bool checkpoints) {
    std::string pattern = (std::filesystem::temp_directory_path() / "attune-XXXXXX").string();
    REQUIRE(::mkdtemp(pattern.data()));
    if (checkpoints)
      directory = pattern;
    else
      std::filesystem::remove(pattern);
    can.pause = can.checkpoint = capable;
  }
  ~Search() {
    daemon.reset();
    if (!directory.empty()) std::filesystem::remove_all(directory);
  }
  Search(const Search&) = delete;
  Search& operator=(const Search&) = delete;

  SmallManager::Send start(const std::string& mode) {
    json experiment = {{"tuner", {{"name", "Halving"}}}};
    if (can.pause) experiment["capabilities"] = {"pause", "checkpoint", "reason"};
    daemon = std::make_unique<DaemonProcess>(
        DaemonProcess::exp_params(experiment),
        std::map<std::string, std::string>{{"NNI_MODE", mode},
                                           {"NNI_CHECKPOINT_DIRECTORY", directory}},
        HALVING_DAEMON);
    return [this](const std::string& code, const std::string& payload) {
      daemon->send(code, payload);
      return daemon->sync();
    };
  }

  Capabilities can;
  std::string directory;
  std::unique_ptr<DaemonProcess> daemon;
};

TEST_CASE("pause: a whole search with the real daemon costs what the manager cannot do") {
  const bool capable = GENERATE(false, true);
  Search search(capable, false);
  SmallManager manager(search.start("start"), search.can, 3, 8);
  manager.start(kSpace);
  while (manager.step()) {
  }
  CHECK(manager.steps == (capable ? 8 * 2 + 5 * 2 + 4 * 4 : 8 * 2 + 5 * 4 + 4 * 8));
  CHECK(manager.exhausted());
  CHECK(manager.live() == 0);
  search.daemon->send("TE");
  CHECK(search.daemon->wait() == 0);
}

TEST_CASE("pause: a daemon that ends in the middle leaves its paused trials to the next one") {
  const bool capable = GENERATE(false, true);
  Search search(capable, true);
  SmallManager manager(search.start("start"), search.can, 3, 8);
  manager.start(kSpace);
  for (int round = 1; manager.step(); ++round) {
    if (round != 3 && round != 7) continue;
    search.daemon->send("TE");
    CHECK(search.daemon->wait() == 0);
    manager.restart(search.start("resume"), kSpace);
  }
  if (capable) CHECK(manager.steps == 8 * 2 + 5 * 2 + 4 * 4);
  CHECK(manager.exhausted());
  CHECK(manager.live() == 0);
}

TEST_CASE("constraints and objectives: the real daemon takes them from the parameters") {
  json experiment = {{"tuner", {{"name", "Random"}, {"classArgs", {{"seed", 1}}}}},
                     {"constraints", {"x < 0.25"}},
                     {"objectives", {{{"metric", "accuracy"}, {"mode", "maximize"}}}}};
  SECTION("no infeasible trial is given out") {
    DaemonProcess daemon(DaemonProcess::exp_params(experiment));
    daemon.send("IN", kSpace);
    daemon.send("GE", "50");
    const auto frames = daemon.sync();
    REQUIRE(frames.size() == 51);
    for (std::size_t i = 1; i < frames.size(); ++i) {
      CHECK(parse_json(frames[i].payload)->at("parameters").at("x") < 0.25);
    }
  }
  SECTION("one that does not fit ends the daemon, which says why") {
    experiment["constraints"] = {"x < 0.25", "x <"};
    experiment["capabilities"] = {"error"};
    DaemonProcess daemon(DaemonProcess::exp_params(experiment));
    daemon.send("IN", kSpace);
    const auto frames = daemon.receive_all();
    REQUIRE(frames.size() == 1);
    CHECK(frames[0].code == "ER");
    CHECK_THAT(frames[0].payload, Catch::StartsWith(R"(constraints[1] "x <": )"));
    CHECK(daemon.wait() == 2);
  }
}

}  // namespace attune::pause_test
