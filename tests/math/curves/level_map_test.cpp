#include "math/curves/level_map.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <limits>

#include "base/rng.h"

namespace attune::level_map_test {

using Losses = std::vector<std::vector<double>>;
constexpr double kNone = std::numeric_limits<double>::quiet_NaN();
constexpr double kFailed = std::numeric_limits<double>::infinity();

TEST_CASE("level map: without trials at two levels nothing is mapped") {
  for (const Losses& losses :
       {Losses{}, Losses{{1, kNone, kNone}}, Losses{{kNone, kNone, 3}, {1, kNone, 2}}}) {
    const LevelMap map(losses, 3);
    CHECK(map.top() == 0);
    for (const std::size_t level : {0, 1, 2}) CHECK(map.to_top(7, level) == 7);
  }
  CHECK(LevelMap({}, 0).to_top(7, 0) == 7);
  CHECK(LevelMap(Losses{{4}, {5}}, 1).to_top(7, 0) == 7);
}

TEST_CASE("level map: one trial keeps four fifths of the difference to it") {
  const LevelMap map(Losses{{5, 3}, {9, kNone}, {1, kNone}}, 2);
  CHECK(map.top() == 1);
  CHECK(map.to_top(5, 0) == Approx(3));
  CHECK(map.to_top(9, 0) == Approx(3 + 0.8 * 4));
  CHECK(map.to_top(1, 0) == Approx(3 - 0.8 * 4));
  CHECK(map.to_top(9, 1) == 9);
}

TEST_CASE("level map: least squares with one pair of the prior") {
  Rng rng(1);
  for (int repeat = 0; repeat < 20; ++repeat) {
    Losses losses;
    for (int i = 0; i < 12; ++i) {
      const double low = rng.normal(), high = 0.5 * low + 0.2 * rng.normal();
      losses.push_back({low, i < 5 ? kNone : high});
    }
    double all = 0, x = 0, y = 0;
    for (const auto& trial : losses) all += trial[0] / 12;
    for (std::size_t i = 5; i < 12; ++i) x += losses[i][0] / 7;
    for (std::size_t i = 5; i < 12; ++i) y += losses[i][1] / 7;
    double spread = 0, xx = 0, xy = 0;
    for (const auto& trial : losses) spread += std::pow(trial[0] - all, 2) / 12;
    for (std::size_t i = 5; i < 12; ++i) xx += std::pow(losses[i][0] - x, 2);
    for (std::size_t i = 5; i < 12; ++i) xy += (losses[i][0] - x) * (losses[i][1] - y);
    const double slope = (xy + 0.8 * spread) / (xx + spread);
    REQUIRE(slope > 0);
    const LevelMap map(losses, 2);
    for (const double loss : {-2.0, 0.3, 5.0}) {
      CHECK(map.to_top(loss, 0) == Approx(y + slope * (loss - x)));
    }
  }
}

TEST_CASE("level map: a level that says nothing or the contrary makes all alike") {
  const LevelMap map(Losses{{1, 5}, {2, 4}, {3, 3}, {4, 2}, {5, 1}}, 2);
  CHECK(map.to_top(-100, 0) == Approx(3));
  CHECK(map.to_top(100, 0) == Approx(3));
}

TEST_CASE("level map: differences grow by three at most") {
  Losses losses;
  for (int i = 0; i < 50; ++i) losses.push_back({0.1 * i, 10.0 * i});
  const LevelMap map(losses, 2);
  CHECK(map.to_top(1, 0) - map.to_top(0, 0) == Approx(3));
}

TEST_CASE("level map: that only good trials get far misleads nobody") {
  Losses losses;
  for (int i = 1; i <= 20; ++i) losses.push_back({double(i), i <= 4 ? i - 0.5 : kNone});
  const LevelMap map(losses, 2);
  for (int i = 1; i <= 4; ++i) CHECK(map.to_top(i, 0) == Approx(i - 0.5).margin(0.5));
  CHECK(map.to_top(20, 0) > 15);  // a difference of averages would say 11 - 8.5 less
}

TEST_CASE("level map: failures are as if the trial had not been seen there") {
  const Losses seen = {{1, 2, kNone}, {2, 2.5, 3}, {3, kNone, kNone}, {4, 4, 2}};
  Losses failed = seen;
  failed[0][2] = failed[2][1] = failed[2][2] = kFailed;
  failed.push_back({kFailed, kFailed, kFailed});
  const LevelMap one(seen, 3), other(failed, 3);
  CHECK(other.top() == 2);
  for (const std::size_t level : {0, 1, 2}) {
    CHECK(one.to_top(1.5, level) == other.to_top(1.5, level));
  }
}

TEST_CASE("level map: the steps follow each other and a step without pairs changes nothing") {
  // The first level to the second: equal. The second to the third: unknown. The third to the
  // fourth: 1 less.
  const Losses losses = {{1, 1, kNone, kNone}, {3, 3, kNone, kNone}, {kNone, kNone, 5, 4}};
  const LevelMap map(losses, 4);
  CHECK(map.top() == 3);
  CHECK(map.to_top(5, 2) == Approx(4));
  CHECK(map.to_top(5, 1) == Approx(4));
  CHECK(map.to_top(2, 0) == Approx(map.to_top(2, 1)));
  CHECK(map.to_top(5, 3) == 5);
}

TEST_CASE("level map: equal losses") {
  const LevelMap map(Losses{{2, 1}, {2, 1}, {2, kNone}}, 2);
  CHECK(map.to_top(2, 0) == 1);
}

TEST_CASE("level map: it never falls while the loss rises") {
  Rng rng(3);
  Losses losses;
  for (int i = 0; i < 200; ++i) {
    std::vector<double> trial(5, kNone);
    for (std::size_t k = 0; k < 1 + rng.index(5); ++k)
      trial[k] = rng.normal() * std::exp(-double(k));
    losses.push_back(trial);
  }
  const LevelMap map(losses, 5);
  for (std::size_t level = 0; level < 5; ++level) {
    for (double loss = -1e100; loss < 1e100; loss += 1e99) {
      CHECK(map.to_top(loss, level) <= map.to_top(loss + 1e99, level));
    }
  }
}

TEST_CASE("level map: large losses stay finite") {
  Losses losses;
  for (int i = 0; i < 40; ++i)
    losses.push_back({i % 2 ? 1e100 : -1e100, i % 3 ? 1e100 : 0, -1e100});
  const LevelMap map(losses, 3);
  for (const double loss : {-1e100, 0.0, 1e100}) CHECK(std::isfinite(map.to_top(loss, 0)));
}

}  // namespace attune::level_map_test
