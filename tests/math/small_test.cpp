// Categorical, RunningMedian.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>

#include "math/density/categorical.h"
#include "math/running_median.h"

namespace attune::small_test {

TEST_CASE("categories: probability is observed weight plus prior weight") {
  const Categorical categorical({{1, 1, 3}, {0.5, 1, 2}}, 4, 0.25);
  CHECK(std::exp(categorical.log_density(0)) == Approx(0.25 / 4.5));
  CHECK(std::exp(categorical.log_density(1)) == Approx(1.75 / 4.5));
  CHECK(std::exp(categorical.log_density(2)) == Approx(0.25 / 4.5));
  CHECK(std::exp(categorical.log_density(3)) == Approx(2.25 / 4.5));
}

TEST_CASE("categories: samples follow the observed weights, the rest is the caller's") {
  const Categorical categorical({{1, 3}, {1, 2}}, 5, 0.2);
  Rng rng(1);
  int one = 0, three = 0, any = 0;
  for (int i = 0; i < 40000; ++i) {
    const auto drawn = categorical.sample(rng);
    if (!drawn) {
      ++any;
    } else {
      REQUIRE((*drawn == 1 || *drawn == 3));
      ++(*drawn == 1 ? one : three);
    }
  }
  CHECK(any == Approx(10000).margin(500));
  CHECK(one == Approx(10000).margin(500));
  CHECK(three == Approx(20000).margin(500));
}

TEST_CASE("categories: no observations is the prior") {
  const Categorical categorical({}, 1e15, 1);
  Rng rng(1);
  CHECK_FALSE(categorical.sample(rng).has_value());
  CHECK(categorical.log_density(7) == Approx(-std::log(1e15)));
}

TEST_CASE("the running median is that of the sorted numbers, at every length") {
  Rng rng(2);
  RunningMedian median;
  std::vector<double> all;
  for (int i = 0; i < 500; ++i) {
    all.push_back(i % 3 ? rng.normal() : double(rng.index(3)));
    median.insert(all.back());
    std::ranges::sort(all);
    REQUIRE(median.size() == all.size());
    REQUIRE(median.upper_median() == all[all.size() / 2]);
  }
  auto values = median.values();
  const auto restored = RunningMedian::restore(values);
  REQUIRE(restored);
  CHECK(restored->values() == values);
  CHECK(restored->upper_median() == median.upper_median());
  std::swap(values.front(), values.back());
  CHECK_FALSE(RunningMedian::restore(values));
  std::ranges::sort(values);
  CHECK(values == all);
  CHECK(RunningMedian::restore({})->size() == 0);
}

}  // namespace attune::small_test
