#include "math/hypervolume.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>

#include "base/rng.h"

namespace attune::hypervolume_test {

using Numbers = std::vector<double>;

// By inclusion and exclusion: of each set of rows the box that all of them dominate.
double by_inclusion(const Numbers& rows, std::size_t objectives, const Numbers& reference) {
  const std::size_t n = rows.size() / objectives;
  double sum = 0;
  for (std::size_t set = 1; set < std::size_t{1} << n; ++set) {
    double box = -1;
    for (std::size_t i = 0; i < objectives; ++i) {
      double corner = -HUGE_VAL;
      for (std::size_t k = 0; k < n; ++k) {
        if (set >> k & 1) corner = std::max(corner, rows[k * objectives + i]);
      }
      box *= std::max(0.0, reference[i] - corner);
    }
    for (std::size_t k = 0; k < n; ++k) box *= set >> k & 1 ? -1 : 1;
    sum += box;
  }
  return sum;
}

TEST_CASE("hypervolume: known areas and volumes") {
  CHECK(hypervolume(Numbers{3, 1, 2}, 1, Numbers{5}) == 4);
  CHECK(hypervolume(Numbers{1, 3, 2, 2, 3, 1}, 2, Numbers{4, 4}) == 6);
  CHECK(hypervolume(Numbers{0, 0, 0}, 3, Numbers{2, 3, 4}) == 24);
  // Two boxes of 4 * 2 * 1 that share 2 * 2 * 1.
  CHECK(hypervolume(Numbers{0, 2, 3, 2, 0, 3}, 3, Numbers{4, 4, 4}) == 12);
  CHECK(hypervolume(Numbers{0, 0, 0, 0, 0}, 5, Numbers{1, 2, 3, 4, 5}) == 120);
}

TEST_CASE("hypervolume: what is not better than the reference adds nothing") {
  CHECK(hypervolume(Numbers{}, 2, Numbers{1, 1}) == 0);
  CHECK(hypervolume(Numbers{1, 0, 0, 1, 2, -5}, 2, Numbers{1, 1}) == 0);
  CHECK(hypervolume(Numbers{1, 0, 0.5, 0.5, 2, -5}, 2, Numbers{1, 1}) == 0.25);
}

TEST_CASE("hypervolume: the sum over all sets of rows") {
  Rng rng(5);
  for (const std::size_t objectives : {1u, 2u, 3u, 4u, 5u, 6u}) {
    for (const std::size_t n : {1u, 2u, 5u, 9u}) {
      for (const std::size_t levels : {3u, 10u}) {  // equal rows, equal numbers, some outside
        Numbers rows(n * objectives), reference(objectives);
        for (double& x : rows) x = static_cast<double>(rng.index(levels)) - 2;
        for (double& x : reference) x = static_cast<double>(levels) - 3;
        CAPTURE(objectives, n, levels);
        CHECK(hypervolume(rows, objectives, reference) ==
              by_inclusion(rows, objectives, reference));  // whole numbers: exact
      }
    }
  }
}

TEST_CASE("hypervolume: a fine line approaches its integral") {
  Numbers rows;
  constexpr int kRows = 2000;
  for (int i = 0; i <= kRows; ++i) {
    const double x = static_cast<double>(i) / kRows;
    rows.insert(rows.end(), {x, 1 - std::sqrt(x)});  // ZDT1
  }
  CHECK(hypervolume(rows, 2, Numbers{1.1, 1.1}) == Approx(1.21 - 1.0 / 3).epsilon(1e-3));
}

TEST_CASE("hypervolume: random rows agree with the share of random points below them") {
  Rng rng(8);
  for (const std::size_t objectives : {3u, 4u}) {
    Numbers rows(40 * objectives);
    for (double& x : rows) x = rng.uniform();
    int hits = 0;
    constexpr int kDraws = 40000;
    for (int draw = 0; draw < kDraws; ++draw) {
      Numbers point(objectives);
      for (double& x : point) x = rng.uniform();
      bool is_hit = false;
      for (std::size_t k = 0; k < 40 && !is_hit; ++k) {
        is_hit = std::ranges::equal(std::span(rows).subspan(k * objectives, objectives), point,
                                    std::less_equal<>());
      }
      hits += is_hit;
    }
    CHECK(hypervolume(rows, objectives, Numbers(objectives, 1.0)) ==
          Approx(static_cast<double>(hits) / kDraws).margin(0.01));
  }
}

TEST_CASE("hypervolume: huge and tiny numbers neither overflow nor vanish") {
  CHECK(hypervolume(Numbers{0, 0}, 2, Numbers{0x1p1000, 0x1p-1000}) == 1);
  CHECK(hypervolume(Numbers{0, 0x1p-1001, 0x1p999, 0}, 2, Numbers{0x1p1000, 0x1p-1000}) == 0.75);
  CHECK(hypervolume(Numbers{-0x1p1023, 0}, 2, Numbers{0x1p1023, 0x1p-1074}) == 0x1p-50);
  CHECK(hypervolume(Numbers{0, 0, 0}, 3, Numbers{0x1p1000, 0x1p1000, 0x1p-1000}) == 0x1p1000);
  CHECK(hypervolume(Numbers{0, 0}, 2, Numbers{1e300, 1e300}) == HUGE_VAL);
  CHECK(hypervolume(Numbers{1e300, -1e300, -1e300, 1e300}, 2, Numbers{1.5e300, 1.5e300}) ==
        HUGE_VAL);
  CHECK(hypervolume(Numbers{0, 0}, 2, Numbers{1e-300, 1e-300}) == 0);
}

}  // namespace attune::hypervolume_test
