#include "math/sorted_numbers.h"

#include <catch2/catch.hpp>
#include <cmath>

#include "base/rng.h"

namespace attune::sorted_numbers_test {

TEST_CASE("sorted numbers: ranks and counts are those of a sorted vector") {
  SortedNumbers numbers;
  std::vector<double> expected;
  Rng rng(3);
  for (int i = 0; i < 5000; ++i) {
    const double x = std::round(rng.normal() * 300) / 100;  // many are equal
    numbers.insert(x);
    expected.insert(std::ranges::upper_bound(expected, x), x);
    if (i % 97 != 0) continue;
    REQUIRE(numbers.values() == expected);
    REQUIRE(numbers.size() == expected.size());
    const std::size_t rank = rng.index(expected.size());
    CHECK(numbers[rank] == expected[rank]);
    for (const double at : {x, x + 0.005, -100.0, 100.0}) {
      const auto below = std::ranges::lower_bound(expected, at) - expected.begin();
      CHECK(numbers.count_below(at) == static_cast<std::size_t>(below));
    }
  }
}

TEST_CASE("sorted numbers: what is erased is gone, once") {
  SortedNumbers numbers;
  std::vector<double> expected;
  Rng rng(4);
  CHECK_FALSE(numbers.erase(0));
  for (int i = 0; i < 9000; ++i) {
    const double x = std::round(rng.normal() * 300) / 100;
    if (i < 3000 || (i < 6000 && rng.index(3) == 0)) {
      numbers.insert(x);
      expected.insert(std::ranges::upper_bound(expected, x), x);
    } else {
      const double gone =
          rng.index(4) == 0 || expected.empty() ? x : expected[rng.index(expected.size())];
      const auto found = std::ranges::lower_bound(expected, gone);
      const bool there = found != expected.end() && *found == gone;
      if (there) expected.erase(found);
      REQUIRE(numbers.erase(gone) == there);
    }
    if (i % 97 == 0 || expected.size() < 3) REQUIRE(numbers.values() == expected);
    REQUIRE(numbers.size() == expected.size());
  }
  CHECK(numbers.empty());
  numbers.insert(1);
  CHECK(numbers.values() == std::vector<double>{1});
}

TEST_CASE("sorted numbers: ascending, descending and infinite ones") {
  for (const double sign : {1.0, -1.0}) {
    SortedNumbers numbers;
    for (int i = 0; i < 3000; ++i) numbers.insert(sign * i);
    numbers.insert(INFINITY);
    numbers.insert(-INFINITY);
    CHECK(numbers.size() == 3002);
    CHECK(numbers[0] == -INFINITY);
    CHECK(numbers[3001] == INFINITY);
    CHECK(std::ranges::is_sorted(numbers.values()));
  }
  CHECK(SortedNumbers().empty());
  CHECK(SortedNumbers().count_below(1) == 0);
}

}  // namespace attune::sorted_numbers_test
