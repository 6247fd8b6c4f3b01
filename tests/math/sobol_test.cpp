#include "math/sobol.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>

namespace attune::sobol_test {

using Points = std::vector<std::vector<double>>;

Points take(Sobol& sobol, std::size_t n) {
  Points points;
  for (std::size_t i = 0; i < n; ++i) points.push_back(sobol.next());
  return points;
}

Points take(Sobol&& sobol, std::size_t n) { return take(sobol, n); }

// Whether `points` have one point in each of as many equal intervals of coordinate i.
bool is_stratified(const Points& points, std::size_t i) {
  std::vector<int> hits(points.size());
  for (const auto& point : points) {
    ++hits.at(static_cast<std::size_t>(point[i] * static_cast<double>(points.size())));
  }
  return std::ranges::all_of(hits, [](int n) { return n == 1; });
}

// Of 2^(a + b) points: one in each cell of 2^a by 2^b.
bool is_net(const Points& points, int a, int b) {
  std::vector<int> hits(points.size());
  for (const auto& point : points) {
    const auto row = static_cast<std::size_t>(std::ldexp(point[0], a));
    ++hits.at((row << b) + static_cast<std::size_t>(std::ldexp(point[1], b)));
  }
  return std::ranges::all_of(hits, [](int n) { return n == 1; });
}

TEST_CASE("sobol: the first points are those of Joe and Kuo") {
  const Points expected = {{0, 0, 0},
                           {0.5, 0.5, 0.5},
                           {0.75, 0.25, 0.25},
                           {0.25, 0.75, 0.75},
                           {0.375, 0.375, 0.625},
                           {0.875, 0.875, 0.125},
                           {0.625, 0.125, 0.875},
                           {0.125, 0.625, 0.375}};
  CHECK(take(Sobol(3), 8) == expected);
}

TEST_CASE("sobol: each coordinate is stratified whether it is scrambled or not") {
  const auto seed = GENERATE(std::optional<std::uint64_t>(), std::optional<std::uint64_t>(0),
                             std::optional<std::uint64_t>(7));
  constexpr std::size_t kSome = 300;
  Sobol sobol(kSome, seed);
  for (const std::size_t block : {16u, 16u, 32u, 64u, 128u, 256u}) {
    const Points points = take(sobol, block);
    for (std::size_t i = 0; i < kSome; ++i) REQUIRE(is_stratified(points, i));
  }
}

TEST_CASE("sobol: the first two coordinates are a net after scrambling") {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    const Points points = take(Sobol(2, seed), 256);
    for (int a = 0; a <= 8; ++a) CHECK(is_net(points, a, 8 - a));
  }
}

TEST_CASE("sobol: seeds make the points") {
  CHECK(take(Sobol(5, 1), 20) == take(Sobol(5, 1), 20));
  CHECK(take(Sobol(5, 1), 1) != take(Sobol(5, 2), 1));
  CHECK(take(Sobol(5, 0), 20) != take(Sobol(5), 20));
}

TEST_CASE("sobol: over seeds each point is uniform and coordinates are independent") {
  constexpr int kSeeds = 4000;
  for (const std::uint64_t count : {0u, 1u, 5u, 100u}) {
    double sum = 0, squares = 0, products = 0;
    for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
      Sobol sobol(2, seed);
      sobol.skip_to(count);
      const auto x = sobol.next();
      sum += x[0] / kSeeds;
      squares += x[0] * x[0] / kSeeds;
      products += (x[0] - 0.5) * (x[1] - 0.5) / kSeeds;
    }
    // Five standard errors.
    CHECK(sum == Approx(0.5).margin(0.023));
    CHECK(squares == Approx(1.0 / 3).margin(0.024));
    CHECK(products == Approx(0).margin(0.0066));
  }
}

TEST_CASE("sobol: skipping is as drawing") {
  for (const std::size_t n : {0u, 1u, 2u, 63u, 100u, 1000u}) {
    Sobol drawn(4, 3), skipped(4, 3);
    take(drawn, n);
    skipped.skip_to(n);
    CHECK(skipped.count() == n);
    CHECK(take(drawn, 5) == take(skipped, 5));
  }
}

TEST_CASE("sobol: after all points it begins again with another scrambling") {
  Sobol sobol(2, 3);
  sobol.skip_to((std::uint64_t{1} << 32) - 1);
  const Points around = take(sobol, 17);
  const Points first = take(Sobol(2, 3), 16);
  CHECK(around[1] != first[0]);
  CHECK(is_stratified(Points(around.begin() + 1, around.end()), 1));
  Sobol plain(2);
  plain.skip_to((std::uint64_t{1} << 32) - 1);
  take(plain, 1);
  CHECK(take(plain, 8) == take(Sobol(2), 8));
}

TEST_CASE("sobol: more dimensions than there are direction numbers for") {
  constexpr std::size_t kMany = Sobol::kDimensions + 10;
  Sobol sobol(kMany, 1);
  const Points points = take(sobol, 256);
  CHECK(is_stratified(points, Sobol::kDimensions - 1));
  for (std::size_t i = Sobol::kDimensions; i < kMany; ++i) {
    double mean = 0;
    for (const auto& point : points) {
      REQUIRE(point[i] >= 0);
      REQUIRE(point[i] < 1);
      mean += point[i] / 256;
    }
    CHECK(mean == Approx(0.5).margin(0.1));  // five standard errors and more
  }
  CHECK(points[0][kMany - 1] != points[0][kMany - 2]);
  CHECK(Sobol(0, 1).next().empty());
}

}  // namespace attune::sobol_test
