// A manager that has an older store, or whose folder was taken away.
#include "tests/backends/local/local_fixture.h"

namespace attune::local_forgotten_test {

using namespace test;

TEST_CASE("local backend: the folder of the experiment is made again") {
  LocalFixture local("report FINAL 0 1");
  local.start(0);
  REQUIRE(local.run_to_end());
  fs::rename(local.directory / "experiment", local.directory / "elsewhere");
  local.start(1);
  REQUIRE(local.run_to_end(2));
  CHECK(local.finished[1].how == Ending::succeeded);
  CHECK(local.reports.size() == 2);
}

TEST_CASE("local backend: what only bears the name of a spool does not hold up a start") {
  LocalFixture local("report FINAL 0 1");
  fs::create_directories(local.trial() / "spool.7");
  local.start(0);
  REQUIRE(local.run_to_end());
  CHECK(local.finished[0].how == Ending::succeeded);
}

TEST_CASE("local backend: no attempt is started beside one that the store has forgotten") {
  TemporaryFolder other;
  const fs::path alive = other.path / "alive";
  Lifeline life(alive);
  const std::string command = "[ -e " + (other.path / "second").string() +
                              " ] && { report FINAL 0 2; exit; }; exec 9> " + alive.string() +
                              "; printf x >&9; read x < " + (other.path / "never").string();
  REQUIRE(::mkfifo((other.path / "never").c_str(), 0600) == 0);
  LocalFixture first(other, command);
  const int forgotten = GENERATE(0, 1);
  first.start(0, forgotten);
  REQUIRE(life.wait_for_byte());
  std::ofstream(other.path / "second") << "x";

  LocalFixture second(other, command);
  const auto refused = second.try_start(trial_start(0, 0));
  REQUIRE_FALSE(refused.has_value());
  CHECK(refused.error().message.find("still ran") != std::string::npos);
  CHECK(life.wait_for_end());
  // Its lock goes with the shim, which was killed with it.
  REQUIRE(first.run_to_end());
  // While processes of anybody are in the middle of execve(), leftovers are still looked for.
  REQUIRE(second.run_until([&] { return second.try_start(trial_start(0, 0)).has_value(); }));
  REQUIRE(second.run_to_end());
  CHECK(second.finished[0].how == Ending::succeeded);
  CHECK(second.reports.size() == 1);
}

}  // namespace attune::local_forgotten_test
