// The key `plugins` of an experiment file.
#include <catch2/catch.hpp>
#include <filesystem>

#include "manager/experiment/experiment_file.h"

namespace attune::plugins_key_test {

Result<Experiment> read(const std::string& plugins) {
  return read_experiment(
      "searchSpace: {x: {_type: uniform, _value: [0, 1]}}\ntrialCommand: \"true\"\n" + plugins,
      (std::filesystem::temp_directory_path() / "experiment.yaml"), "/tmp");
}

TEST_CASE("plug-ins of an experiment: paths are relative to its file") {
  const auto experiment = read(
      "plugins: [build/mine.so, /other/x.so, python3 mine.py, {file: lib.so.1},"
      " {command: [./mine, -v], timeout: 2m, environment: {OMP_NUM_THREADS: 4}}]\n");
  if (!experiment) FAIL(experiment.error().message);
  const std::string base = std::filesystem::temp_directory_path().lexically_normal().string();
  const json all = daemon_parameters(*experiment)["plugins"];
  CHECK(all[0] == json{{"file", base + "/build/mine.so"}});
  CHECK(all[1] == json{{"file", "/other/x.so"}});
  CHECK(all[2] == json{{"command", "python3 mine.py"}, {"directory", base}});
  CHECK(all[3] == json{{"file", base + "/lib.so.1"}});
  CHECK(all[4]["command"] == json{"./mine", "-v"});
  CHECK(all[4]["timeout"] == 120);
  CHECK(all[4]["environment"] == json{{"OMP_NUM_THREADS", "4"}});
  // The stored form means the same.
  const auto again = read_stored_experiment(to_document(*experiment), base);
  REQUIRE(again);
  CHECK(again->plugins == experiment->plugins);
}

TEST_CASE("plug-ins of an experiment: mistakes have a place") {
  for (const auto& [plugins, what] : std::vector<std::pair<std::string, std::string>>{
           {"plugins: 3\n", "plugins: a list of files and commands expected"},
           {"plugins: [7]\n", "plugins[0]: an object expected"},
           {"plugins: [{fil: x}]\n", "did you mean \"file\"?"},
           {"plugins: [{file: a.so, command: b}]\n", "exactly one of file and command"},
           {"plugins: [{file: a.so, timeout: 3}]\n", "it belongs to a command"},
           {"plugins: [{command: b, environment: {A-B: c}}]\n", "plugins[0].environment.A-B"}}) {
    CAPTURE(plugins);
    const auto experiment = read(plugins);
    REQUIRE_FALSE(experiment);
    CHECK_THAT(experiment.error().message, Catch::Contains(what));
  }
}

}  // namespace attune::plugins_key_test
