// Learning curves with fewer points, and their bands.
#include "analysis/curves.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <limits>

#include "base/rng.h"

namespace attune::curves_test {

using Curve = std::vector<PlotPoint>;

Curve line(double from, double to, double y) {
  Curve curve;
  for (double x = from; x <= to; ++x) curve.push_back({x, y});
  return curve;
}

bool is_part(const Curve& part, const Curve& whole) {
  std::size_t at = 0;
  for (const PlotPoint& point : part) {
    while (at < whole.size() && !(whole[at] == point)) ++at;
    if (at++ == whole.size()) return false;
  }
  return true;
}

TEST_CASE("thinned: so many of its points, with both ends") {
  for (std::uint64_t seed = 1; seed <= 50; ++seed) {
    CAPTURE(seed);
    Rng rng(seed);
    Curve curve;
    double x = -5;
    const std::size_t count = rng.index(200);
    for (std::size_t k = 0; k < count; ++k) curve.push_back({x += rng.uniform(), rng.uniform()});
    const std::size_t most = 3 + rng.index(60);
    const Curve fewer = thinned(curve, most);
    CHECK(fewer.size() == std::min(most, count));
    CHECK(is_part(fewer, curve));
    if (count == 0) continue;
    CHECK(fewer.front() == curve.front());
    CHECK(fewer.back() == curve.back());
  }
}

TEST_CASE("thinned: a peak of one point stays") {
  for (const double peak : {1.0, -1.0, 1e-3, 1e300, -1.7e308}) {
    for (const std::size_t at : {1, 400, 613, 998}) {
      Curve curve = line(0, 999, 0);
      curve[at].y = peak;
      const Curve fewer = thinned(curve, 20);
      CHECK(std::ranges::count(fewer, curve[at]) == 1);
    }
  }
}

TEST_CASE("thinned: the point of the largest triangle, computed by hand") {
  // One bucket of three points between (0, 0) and (4, 0): the highest one.
  CHECK(thinned(Curve{{0, 0}, {1, 1}, {2, -3}, {3, 2}, {4, 0}}, 3) ==
        Curve{{0, 0}, {2, -3}, {4, 0}});
  // Two buckets: (1, 1), (2, 4) and (3, 0), (4, 2). The mean of the second is (3.5, 1). Twice the
  // areas with (0, 0): |1 - 3.5| = 2.5 and |2 - 14| = 12. Then from (2, 4) with (5, 0):
  // |-4 * 3 + 4| = 8 and |-8 + 6| = 2.
  CHECK(thinned(Curve{{0, 0}, {1, 1}, {2, 4}, {3, 0}, {4, 2}, {5, 0}}, 4) ==
        Curve{{0, 0}, {2, 4}, {3, 0}, {5, 0}});
}

TEST_CASE("thinned: what is not finite is left out") {
  const double nan = std::nan(""), infinity = std::numeric_limits<double>::infinity();
  CHECK(thinned(Curve{{0, nan}, {1, 2}, {2, infinity}, {3, 4}, {4, -infinity}}, 3) ==
        Curve{{1, 2}, {3, 4}});
  CHECK(thinned(Curve{{0, nan}}, 3).empty());
}

TEST_CASE("band: quantiles of the curves that run") {
  // Five lines from 0 to 10, of which two end at 5 and one begins at 5.
  const std::vector<Curve> curves = {line(0, 10, 1), line(0, 5, 2), line(0, 5, 3), line(5, 10, 4),
                                     line(0, 10, 5)};
  const auto points = band(curves, 11);
  REQUIRE(points.size() == 11);
  for (const BandPoint& point : points)
    CHECK((point.low <= point.middle && point.middle <= point.high));
  CHECK(points[4].x == Approx(4));
  CHECK(points[4].curves == 4);  // 1, 2, 3, 5
  CHECK(points[4].low == 1.75);
  CHECK(points[4].middle == 2.5);
  CHECK(points[4].high == 3.5);
  CHECK(points[5].curves == 5);
  CHECK(points[5].middle == 3);
  CHECK(points[10].x == 10);
  CHECK(points[10].curves == 3);  // 1, 4, 5
  CHECK(points[10].middle == 4);
  const auto whole = band(curves, 11, {.low = 0, .high = 1});
  CHECK(whole[10].low == 1);
  CHECK(whole[10].high == 5);
}

TEST_CASE("band: between two points of a curve the earlier one counts") {
  const auto points = band(std::vector<Curve>{{{0, 1}, {3, 7}, {4, 9}}}, 5);
  REQUIRE(points.size() == 5);
  const double expected[] = {1, 1, 1, 7, 9};
  for (std::size_t k = 0; k < 5; ++k) CHECK(points[k].middle == expected[k]);
}

TEST_CASE("band: no curves, points at one place, a gap, and what is not finite") {
  CHECK(band({}, 10).empty());
  CHECK(band(std::vector<Curve>{{}, {{1, std::nan("")}}}, 10).empty());
  const auto one = band(std::vector<Curve>{{{2, 1}}, {{2, 3}}}, 10);
  REQUIRE(one.size() == 1);
  CHECK(one[0].x == 2);
  CHECK(one[0].middle == 2);
  const auto gap = band(std::vector<Curve>{line(0, 1, 1), line(9, 10, 2)}, 11);
  REQUIRE(gap.size() == 4);
  CHECK(gap[1].middle == 1);
  CHECK(gap[2].middle == 2);
}

}  // namespace attune::curves_test
