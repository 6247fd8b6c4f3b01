#include "tuners/parts/curve_tradeoff.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>

#include "base/rng.h"
#include "math/pareto.h"

namespace attune::curve_tradeoff_test {

using Numbers = std::vector<double>;

Numbers gathered(const std::vector<Numbers>& results) {
  Numbers all;
  for (const Numbers& one : results) all.insert(all.end(), one.begin(), one.end());
  return all;
}

std::size_t lowest(const CurveTradeoff& tradeoff, const std::vector<Numbers>& results) {
  const auto best =
      std::ranges::min_element(results, {}, [&](const Numbers& one) { return tradeoff(one); });
  return static_cast<std::size_t>(best - results.begin());
}

TEST_CASE("curve tradeoff: a loss alone stays what it is") {
  CurveTradeoff tradeoff(CurveShape{});
  tradeoff.set_scale(Numbers{1, 2, 3});
  CHECK(tradeoff(Numbers{0.1}) == 0.1);
  CHECK(tradeoff(Numbers{-1e100}) == -1e100);
}

TEST_CASE(
    "curve tradeoff: whatever the weights the lowest one is on the front, and all get there") {
  Rng rng(1);
  // A front that bends inwards: a weighted sum would find its ends alone.
  std::vector<Numbers> results;
  for (int i = 0; i <= 10; ++i) {
    const double x = i / 10.0;
    results.push_back({1000 * x, 1 - std::pow(x, 1.5)});
  }
  for (int i = 0; i < 60; ++i) results.push_back({1000 * rng.uniform() + 500, 1.2 + rng.uniform()});
  const Numbers rows = gathered(results);
  const auto fronts = nondominated_fronts(rows, 2);
  CurveTradeoff tradeoff({.objectives = 2});
  std::vector<int> found(results.size());
  for (double weight = 0; weight <= 1; weight += 0.002) {
    tradeoff.set_weights(Numbers{weight, 1 - weight});
    tradeoff.set_scale(rows);
    const std::size_t best = lowest(tradeoff, results);
    CHECK(fronts[best] == 0);
    ++found[best];
  }
  for (std::size_t i = 0; i <= 10; ++i) CHECK(found[i] > 0);
}

TEST_CASE("curve tradeoff: what breaks a limit comes behind all that keep it, by how much") {
  std::vector<Numbers> results;
  for (int i = 0; i < 20; ++i) results.push_back({double(i * i), i % 3 - 1.5 + 0.01 * i});
  CurveTradeoff tradeoff({.objectives = 1, .limits = 1});
  tradeoff.set_scale(gathered(results));
  double last_broken = -HUGE_VAL, worst_kept = -HUGE_VAL, least_broken = HUGE_VAL;
  std::ranges::sort(results, {}, [](const Numbers& one) { return one[1]; });
  for (const Numbers& one : results) {
    const double value = tradeoff(one);
    if (one[1] <= 0) {
      worst_kept = std::max(worst_kept, value);
    } else {
      CHECK(value > last_broken);
      last_broken = value;
      least_broken = std::min(least_broken, value);
    }
  }
  CHECK(least_broken > worst_kept);
  CHECK(tradeoff(Numbers{1, 0}) < tradeoff(Numbers{4, -5}));
}

TEST_CASE("curve tradeoff: where none keeps the limits the objectives do not count") {
  CurveTradeoff tradeoff({.objectives = 2, .limits = 2});
  tradeoff.set_scale(Numbers{1, 2, 0.5, -1,   //
                             9, 9, 0.1, 0.1,  //
                             0, 0, -5, 7});
  CHECK(tradeoff(Numbers{9, 9, 0.1, 0.1}) < tradeoff(Numbers{1, 2, 0.5, -1}));
  CHECK(tradeoff(Numbers{0, 0, 0.5, -1}) == tradeoff(Numbers{1, 2, 0.5, -9}));
  CHECK(tradeoff(Numbers{1, 2, 0.5, -1}) < tradeoff(Numbers{0, 0, -5, 7}));
  CHECK(tradeoff(Numbers{0, 0, 0, 0}) < tradeoff(Numbers{9, 9, 0.1, 0.1}));
}

TEST_CASE("curve tradeoff: how bad a bad result is says nothing about the good ones") {
  std::vector<Numbers> results;
  for (int i = 0; i < 20; ++i) results.push_back({double(i), double(20 - i)});
  CurveTradeoff before({.objectives = 2}), after({.objectives = 2});
  results.push_back({500, 500});
  before.set_scale(gathered(results));
  results.back() = {1e90, 1e90};
  after.set_scale(gathered(results));
  for (const Numbers& one : results) CHECK(before(one) == after(one));
}

TEST_CASE("curve tradeoff: numbers of every size are finite and in order") {
  for (const double unit : {1e100, 1.0, 1e-300, 0.0}) {
    CurveTradeoff tradeoff({.objectives = 2, .limits = 1});
    tradeoff.set_scale(Numbers{unit, unit, -unit,  //
                               0, unit / 2, 0,     //
                               -unit, 0, unit});
    for (const Numbers& one : {Numbers{unit, unit, -unit}, Numbers{-unit, 0, unit},
                               Numbers{1e100, -1e100, 1e100}, Numbers{-1e100, 1e100, -1e100}}) {
      CHECK(std::isfinite(tradeoff(one)));
    }
    CHECK(tradeoff(Numbers{0, unit / 2, 0}) <= tradeoff(Numbers{unit, unit, -unit}));
  }
}

}  // namespace attune::curve_tradeoff_test
