// The commands that ask a manager, and what they say when there is none.
#include "manager/cli/commands/requests.h"

#include <catch2/catch.hpp>
#include <fstream>
#include <mutex>

#include "manager/store/store.h"
#include "tests/manager/cli/printed.h"
#include "tests/manager/control/listening_manager.h"
#include "tests/manager/store/stored_experiment.h"
#include "tests/support/temporary_folder.h"

namespace attune::requests_test {

// Keeps what it was asked; its answers name two trials.
class World {
 public:
  World() : store(begin_experiment(folder.path, "abcd2345")) {
    store.add_trial(pending_trial(3), 1001).value();
    store.commit().value();
  }
  ControlServer::Handler handler() {
    return [this](const json& request) -> Result<json> {
      const std::lock_guard lock(mutex_);
      requests_.push_back(request);
      json answer = {{"trials", {"t0004", "t0005"}}};
      if (request.contains("records")) answer["imported"] = request["records"].size();
      return answer;
    };
  }
  std::vector<json> requests() {
    const std::lock_guard lock(mutex_);
    return requests_;
  }
  template <class Options>
  Options options() const {
    Options found;
    found.which.directory = folder.path.string();
    return found;
  }

  TemporaryFolder folder;
  Store store;

 private:
  std::mutex mutex_;
  std::vector<json> requests_;
};

TEST_CASE("requests: without a manager nothing happens, and the cure is named") {
  const World world;
  Printed printed;
  const auto code = request(world.options<StopOptions>(), printed.console);
  REQUIRE(code.has_value());
  CHECK(*code == kExitNoManager);
  CHECK(printed.out().empty());
  const std::string where = "--dir " + (world.folder.path / "abcd2345").string();
  CHECK(printed.err() == "attune: experiment abcd2345 is killed: no manager runs; attune resume " +
                             where + " starts one\n");
}

TEST_CASE("requests: mistakes of a new search space are named with their file and line") {
  const World world;
  Printed printed;
  auto update = world.options<UpdateOptions>();
  update.search_space = (world.folder.path / "new.yaml").string();
  std::ofstream(update.search_space) << "lr:\n  _type: uniform\n  _value: [0, 1]\n"
                                        "  _prior: {_value: 5}\nn: {_type: randint}\n";
  const auto code = request(update, printed.console);
  REQUIRE_FALSE(code.has_value());
  CHECK_THAT(code.error().message,
             Catch::Contains("new.yaml:4:12: lr._prior._value: 5 is outside of [0, 1]") &&
                 Catch::Contains("new.yaml:5:1: n._value: missing"));
}

TEST_CASE("requests: without a manager a resume is named that would do what was asked") {
  const World world;
  const std::string resume =
      "no manager runs; attune resume --dir " + (world.folder.path / "abcd2345").string();
  Printed updated;
  auto update = world.options<UpdateOptions>();
  update.max_trials = 200;
  update.max_seconds = 5400;
  REQUIRE(request(update, updated.console) == kExitNoManager);
  CHECK_THAT(updated.err(), Catch::Contains(resume + " --max-trials 200 --duration 5400 starts one "
                                                     "with that\n"));
  Printed imported;
  auto import = world.options<ImportOptions>();
  import.file = (world.folder.path / "my results.csv").string();
  std::ofstream(import.file) << "x,score\n1,2\n";
  REQUIRE(request(import, imported.console) == kExitNoManager);
  CHECK_THAT(imported.err(), Catch::Contains(resume + " --import '" + import.file + "' starts"));
}

TEST_CASE("requests: every command says what was asked") {
  World world;
  const ListeningManager manager(world.folder.path / "abcd2345", world.handler());
  Printed printed;
  const auto asked = [&](const auto& options) {
    const auto code = request(options, printed.console);
    INFO((code ? "" : code.error().message));
    REQUIRE(code.has_value());
    CHECK(*code == kExitOk);
    return world.requests().back();
  };
  auto stop = world.options<StopOptions>();
  stop.kill = true;
  stop.wait = false;  // this manager never ends
  CHECK(asked(stop) == json{{"command", "stop"}, {"kill", true}});

  auto kill = world.options<KillOptions>();
  kill.trials = {"3"};
  CHECK(asked(kill) == json{{"command", "kill"}, {"trials", {"t0003"}}});
  kill.trials = {"t0099"};
  CHECK_FALSE(request(kill, printed.console).has_value());

  auto add = world.options<AddOptions>();
  add.parameters = R"([{"x": 1}, {"x": 2}])";
  CHECK(asked(add)["trials"] == json{{{"x", 1}}, {{"x", 2}}});
  const auto file = world.folder.path / "trial.json";
  std::ofstream(file) << R"({"x": 3})";
  add.parameters = file.string();
  CHECK(asked(add)["trials"] == json::array({{{"x", 3}}}));
  for (const char* wrong : {"[1]", "[]", "{", "/nowhere.json"}) {
    add.parameters = wrong;
    CHECK_FALSE(request(add, printed.console).has_value());
  }

  auto update = world.options<UpdateOptions>();
  std::ofstream(world.folder.path / "space.yaml") << "x: {_type: choice, _value: [1, 2]}\n";
  update.search_space = (world.folder.path / "space.yaml").string();
  update.concurrency = 4;
  update.max_seconds = 90;
  update.max_trials = 7;
  CHECK(asked(update) == json{{"command", "update"},
                              {"search_space", {{"x", {{"_type", "choice"}, {"_value", {1, 2}}}}}},
                              {"concurrency", 4},
                              {"max_seconds", 90.0},
                              {"max_trials", 7}});
  CHECK(printed.out() ==
        "experiment abcd2345 stops\nstopping t0003\n2 added: t0004 t0005\n1 added: t0004 "
        "t0005\nexperiment abcd2345 is updated\n");
}

TEST_CASE("requests: an import of any size") {
  World world;
  const ListeningManager manager(world.folder.path / "abcd2345", world.handler());
  auto import = world.options<ImportOptions>();
  import.file = (world.folder.path / "results.csv").string();
  {
    std::ofstream file(import.file);
    file << "x,value\n";
    for (int i = 0; i < 2500; ++i) file << i << "," << i << ".5\n";
  }
  import.dry_run = true;
  Printed printed;
  REQUIRE(request(import, printed.console) == kExitOk);
  CHECK(world.requests().empty());
  import.dry_run = false;
  REQUIRE(request(import, printed.console) == kExitOk);
  std::size_t count = 0;
  for (const json& each : world.requests()) count += each["records"].size();
  CHECK(count == 2500);
  CHECK(world.requests().size() == 3);
  CHECK(world.requests()[2]["records"][499]["score"] == 2499.5);
  CHECK(printed.out() == "2500 results could be imported\n2500 results imported\n");
}

}  // namespace attune::requests_test
