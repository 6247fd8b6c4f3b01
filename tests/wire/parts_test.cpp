#include <sys/stat.h>

#include <catch2/catch.hpp>
#include <fstream>

#include "base/backoff.h"
#include "tests/support/temporary_folder.h"
#include "wire/life_signs.h"

namespace attune::parts_test {

using namespace std::chrono_literals;

TEST_CASE("life signs: pings after quiet in one direction and the end after silence") {
  using enum LifeSigns::Verdict;
  LifeSigns signs(8ms, 24ms);
  REQUIRE(signs.tick() == 2ms);
  for (int i = 1; i < 13; ++i) CHECK(signs.count(true) == (i % 4 == 0 ? ping : nothing));
  CHECK(signs.count(true) == silent);

  LifeSigns talking(8ms, 24ms);  // hears enough, says nothing
  for (int i = 1; i < 100; ++i) {
    talking.heard();
    CHECK(talking.count(true) == (i % 4 == 0 ? ping : nothing));
  }
  LifeSigns busy(8ms, 24ms);
  for (int i = 1; i < 100; ++i) {
    busy.heard();
    busy.spoken();
    CHECK(busy.count(true) == nothing);
  }
  LifeSigns deaf(8ms, 24ms);
  for (int i = 1; i < 100; ++i) CHECK(deaf.count(false) != silent);
}

TEST_CASE("backoff: pauses double up to the longest and start again") {
  Backoff backoff(100ms, 1s, Rng(7));
  Backoff same(100ms, 1s, Rng(7));
  for (int round = 0; round < 3; ++round) {
    for (const auto bound : {100ms, 200ms, 400ms, 800ms, 1000ms, 1000ms, 1000ms}) {
      const auto pause = backoff.next();
      CHECK(pause >= bound / 2);
      CHECK(pause <= bound);
      CHECK(pause == same.next());
    }
    backoff.reset();
    same.reset();
  }
  CHECK(Backoff(1s, 1s, Rng(1)).next() != Backoff(1s, 1s, Rng(2)).next());
}

}  // namespace attune::parts_test
