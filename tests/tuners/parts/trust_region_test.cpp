#include "tuners/parts/trust_region.h"

#include <catch2/catch.hpp>
#include <cmath>

#include "base/saved_numbers.h"

namespace attune::trust_region_test {

void fail_times(TrustRegion& region, int count) {
  for (int i = 0; i < count; ++i) region.count(false, 1);
}

TEST_CASE("trust region: three successes in a row double it") {
  TrustRegion region({.initial_length = 0.4}, 5);
  for (const bool improved : {true, true, false, true, true}) region.count(improved, 1);
  CHECK(region.length() == 0.4);  // not in a row
  region.count(true, 1);
  CHECK(region.length() == 0.8);
  for (int i = 0; i < 9; ++i) region.count(true, 1);
  CHECK(region.length() == TrustRegion::kMostLength);
}

TEST_CASE("trust region: as many failures as are tolerated halve it until it ends") {
  TrustRegion region({.initial_length = 0.8}, 5);
  fail_times(region, 4);
  region.count(true, 1);
  fail_times(region, 4);
  CHECK(region.length() == 0.8);
  fail_times(region, 1);
  CHECK(region.length() == 0.4);
  fail_times(region, 5 * 5);
  CHECK(region.length() == 0.8 / 64);
  CHECK_FALSE(region.ended());
  fail_times(region, 5);
  CHECK(region.ended());
}

TEST_CASE("trust region: one success among trials that run together is one of the round") {
  TrustRegion region({.initial_length = 0.4}, 8);
  for (int round = 0; round < 3; ++round) {
    CHECK(region.length() == 0.4);
    for (int i = 0; i < 4; ++i) region.count(i == round, 4);
  }
  CHECK(region.length() == 0.8);
  for (int i = 0; i < 7; ++i) region.count(false, 4);
  CHECK(region.length() == 0.8);
  region.count(false, 4);
  CHECK(region.length() == 0.4);
}

TEST_CASE("trust region: a saved one goes on as the other") {
  TrustRegion region({}, 6), copy({}, 6);
  for (int i = 0; i < 40; ++i) {
    region.count(i % 7 == 0, 1 + static_cast<std::size_t>(i % 3));
    copy = TrustRegion({}, 6);
    REQUIRE(copy.load(region.save()));
    CHECK(copy.save() == region.save());
    if (region.ended()) break;
  }
}

TEST_CASE("trust region: impossible states are errors and change nothing") {
  using Numbers = std::vector<double>;
  for (const Numbers& saved :
       {Numbers{}, Numbers{0.8, 0, 0, 0, 0}, Numbers{1e-3, 0, 0, 0, 0, 0},
        Numbers{2, 0, 0, 0, 0, 0}, Numbers{NAN, 0, 0, 0, 0, 0}, Numbers{0.8, 3, 0, 0, 0, 0},
        Numbers{0.8, 0, 6, 0, 0, 0}, Numbers{0.8, 0.5, 0, 0, 0, 0}, Numbers{0.8, 0, 0, -1, 0, 0},
        Numbers{0.8, 0, 0, 1, 2, 0}, Numbers{0.8, 0, 0, 1, NAN, 0}, Numbers{0.8, 0, 0, 0, 0, 2}}) {
    TrustRegion region({}, 6);
    const json before = region.save();
    CHECK_FALSE(region.load(save_numbers(saved)));
    CHECK(region.save() == before);
  }
}

}  // namespace attune::trust_region_test
