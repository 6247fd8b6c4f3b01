#include "cluster/pool/server/server_time.h"

#include <catch2/catch.hpp>
#include <fstream>

#include "tests/support/temporary_folder.h"

namespace attune::server_time_test {

struct SettableClock final : Clock {
  double now() const override { return passed; }
  double wall() const override { return 1e9 + passed + step; }
  double passed = 50, step = 0;
};

TEST_CASE("server time: within a boot it is counted, whoever sets the clock") {
  const TemporaryFolder folder;
  SettableClock clock;
  CHECK(time_at_begin(folder.path, clock, "boot", 0).value() == 1e9 + 50);
  clock.passed = 60;
  clock.step = GENERATE(-1000.0, 0.0, 259'427.0);
  CHECK(time_at_begin(folder.path, clock, "boot", 0).value() == 1e9 + 60);
  clock.passed = 70;
  CHECK(time_at_begin(folder.path, clock, "boot", 0).value() == 1e9 + 70);
}

TEST_CASE("server time: after another boot it is the wall clock, and never goes back") {
  const TemporaryFolder folder;
  SettableClock clock;
  CHECK(time_at_begin(folder.path, clock, "boot", 0).has_value());
  clock.passed = 10;
  SECTION("another name") {
    CHECK(time_at_begin(folder.path, clock, "other", 0).value() == 1e9 + 10);
    clock.step = -1000;
    CHECK(time_at_begin(folder.path, clock, "third", 1e9 + 20).value() == 1e9 + 20);
  }
  SECTION("a clock that has begun again") {
    CHECK(time_at_begin(folder.path, clock, "boot", 0).value() == 1e9 + 10);
  }
  SECTION("whatever lies there") {
    const std::string text = GENERATE("", "{", "[]", R"({"boot": "boot", "now": "x", "time": 1})",
                                      R"({"boot": "boot", "now": 1})");
    std::ofstream(folder.path / kTimeFile) << text;
    CHECK(time_at_begin(folder.path, clock, "boot", 0).value() == 1e9 + 10);
  }
}

}  // namespace attune::server_time_test
