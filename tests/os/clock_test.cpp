#include "os/clock.h"

#include <catch2/catch.hpp>

namespace attune::clock_test {

TEST_CASE("the system's clock goes on, and its wall time is a date of this century") {
  const SystemClock clock;
  const double before = clock.now();
  while (clock.now() == before) {
  }
  CHECK(clock.now() > before);
  CHECK(clock.wall() > 1.7e9);
  CHECK(clock.wall() < 4.2e9);
}

TEST_CASE("a manual clock stands still until it is moved") {
  ManualClock clock(1000);
  CHECK(clock.now() == 0);
  CHECK(clock.now() == 0);
  clock.advance(2.5);
  CHECK(clock.now() == 2.5);
  CHECK(clock.wall() == 1002.5);
}

}  // namespace attune::clock_test
