// The distribution of CMA-ES: convergence as published, margins, injected results, saved states.
#include "math/cma_es/cma_es.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <functional>
#include <limits>

#include "base/saved_numbers.h"

namespace attune::cma_es_test {

using Function = std::function<double(const std::vector<double>&)>;

double sphere(const std::vector<double>& x) {
  double sum = 0;
  for (const double c : x) sum += c * c;
  return sum;
}

double ellipsoid(const std::vector<double>& x) {
  double sum = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    sum += std::pow(1e6, static_cast<double>(i) / static_cast<double>(x.size() - 1)) * x[i] * x[i];
  }
  return sum;
}

double rosenbrock(const std::vector<double>& x) {
  double sum = 0;
  for (std::size_t i = 0; i + 1 < x.size(); ++i) {
    sum += 100 * std::pow(x[i] * x[i] - x[i + 1], 2) + std::pow(x[i] - 1, 2);
  }
  return sum;
}

CmaEs plain(std::size_t n, double mean, double sigma, bool diagonal = false) {
  return {{std::vector<double>(n, mean), sigma, {}, diagonal, cma_population(n)}, CmaCells(n)};
}

std::vector<CmaResult> generation(CmaEs& cma, const Function& loss, Rng& rng, double* best) {
  std::vector<CmaResult> results;
  for (std::size_t i = 0; i < cma_population(cma.dimensions()); ++i) {
    results.push_back({cma.sample(rng), {}, false});
    if (best) *best = std::min(*best, loss(results.back().x));
  }
  std::ranges::sort(results, {}, [&](const CmaResult& one) { return loss(one.x); });
  return results;
}

// Evaluations until the loss is below 1e-10.
std::size_t evaluations(CmaEs cma, const Function& loss, std::uint64_t seed) {
  Rng rng(seed);
  double best = std::numeric_limits<double>::infinity();
  std::size_t count = 0;
  while (best > 1e-10 && count < 100000) {
    cma.update(generation(cma, loss, rng, &best));
    count += cma_population(cma.dimensions());
  }
  return count;
}

// The median of seven seeds.
std::size_t typical(const CmaEs& cma, const Function& loss) {
  std::vector<std::size_t> counts;
  for (std::uint64_t seed = 0; seed < 7; ++seed) counts.push_back(evaluations(cma, loss, seed));
  std::ranges::sort(counts);
  return counts[3];
}

// The share of draws whose coordinate i is outside of [low, high].
double leaving(CmaEs& cma, std::size_t i, double low, double high) {
  Rng rng(5);
  int count = 0;
  for (int k = 0; k < 20000; ++k) {
    const double x = cma.sample(rng)[i];
    count += x < low || x > high ? 1 : 0;
  }
  return count / 20000.0;
}

TEST_CASE("cma: the constants of the tutorial in ten dimensions") {
  CHECK(cma_population(10) == 10);
  CHECK(cma_population(1) == 4);
  CHECK(cma_population(0) == 4);
  const CmaRates rates = cma_rates(10, 10, false);
  CHECK(rates.parents == 5);
  CHECK(rates.effective == Approx(3.1672).epsilon(1e-4));
  CHECK(rates.weights[0] == Approx(0.45627).epsilon(1e-4));
  CHECK(rates.step_path == Approx(5.1672 / 18.1672).epsilon(1e-4));
  CHECK(rates.rank_one == Approx(2 / (11.3 * 11.3 + 3.1672)).epsilon(1e-4));
  CHECK(rates.rank_mu == Approx(2 * (0.25 + 3.1672 + 1 / 3.1672 - 2) / 147.1672).epsilon(1e-4));
  double positive = 0, negative = 0;
  for (const double w : rates.weights) (w > 0 ? positive : negative) += w;
  CHECK(positive == Approx(1));
  // The least of the three bounds is the second one here.
  CHECK(negative == Approx(-(1 + rates.rank_one / rates.rank_mu)).epsilon(0.15));
  CHECK(rates.weight_sum == Approx(positive + negative));
  CHECK(cma_rates(10, 10, true).rank_mu == Approx(4 * rates.rank_mu));
  for (const std::size_t n : {1u, 2u, 3u, 50u}) {
    for (const std::size_t results : {2u, 3u, 4u, 64u, 5000u}) {
      for (const bool diagonal : {false, true}) {
        const CmaRates some = cma_rates(n, results, diagonal);
        CAPTURE(n, results);
        CHECK(some.rank_one + some.rank_mu <= 1);
        CHECK(some.rank_mu >= 0);
        CHECK(std::isfinite(some.weight_sum));
      }
    }
  }
}

// A quarter more than this implementation's medians: sphere 5-D 900, 10-D 1800; ellipsoid 5-D 1600,
// 10-D 4400; Rosenbrock 5-D 1800, 10-D 5600. For comparison, the announcement of
// CMAEvolutionStrategy.jl (2020, active CMA-ES with the same defaults) shows 2394 evaluations to
// 5.6e-12 on Rosenbrock by pairs in 6-D from the origin with step 1.
TEST_CASE("cma: evaluations to 1e-10") {
  CHECK(typical(plain(5, 3, 2), sphere) < 1130);
  CHECK(typical(plain(10, 3, 2), sphere) < 2250);
  CHECK(typical(plain(5, 3, 2), ellipsoid) < 2000);
  CHECK(typical(plain(10, 3, 2), ellipsoid) < 5500);
  CHECK(typical(plain(5, 0, 0.5), rosenbrock) < 2250);
  CHECK(typical(plain(10, 0, 0.5), rosenbrock) < 7000);
  const Function pairs = [](const std::vector<double>& x) {
    return rosenbrock({x[0], x[1]}) + rosenbrock({x[2], x[3]}) + rosenbrock({x[4], x[5]});
  };
  CHECK(typical(plain(6, 0, 1), pairs) < 3000);
}

TEST_CASE("cma: the diagonal is learned faster than the matrix") {
  const std::size_t diagonal = typical(plain(20, 3, 2, true), ellipsoid);
  CHECK(diagonal < 6500);
  CHECK(diagonal < typical(plain(20, 3, 2), ellipsoid) / 2);
}

TEST_CASE("cma: one dimension and two results in a generation") {
  CmaEs cma = plain(1, 3, 1);
  Rng rng(1);
  for (int k = 0; k < 400; ++k) {
    std::vector<CmaResult> two = {{cma.sample(rng), {}, false}, {cma.sample(rng), {}, false}};
    if (sphere(two[0].x) > sphere(two[1].x)) std::swap(two[0], two[1]);
    cma.update(two);
  }
  CHECK(std::abs(cma.mean()[0]) < 1e-3);
}

TEST_CASE("cma: without selection neither mean nor deviation has a trend") {
  double mean = 0, log_sigma = 0, log_deviation = 0;
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    CmaEs cma = plain(5, 0.5, 0.2);
    Rng rng(seed);
    for (int k = 0; k < 20; ++k) cma.update(generation(cma, [](auto&) { return 1; }, rng, nullptr));
    mean += cma.mean()[0] / 200;
    log_sigma += std::log(cma.sigma() / 0.2) / 200;
    log_deviation += std::log(cma.deviation(0) / cma.sigma()) / 200;
  }
  CHECK(mean == Approx(0.5).margin(0.15));
  CHECK(std::abs(log_sigma) < 0.5);
  CHECK(std::abs(log_deviation) < 0.3);
}

TEST_CASE("cma: a coordinate without an effect does not move the mean") {
  const Function loss = [](const std::vector<double>& x) { return x[0] * x[0] + x[2] * x[2]; };
  CmaEs cma = plain(3, 0.5, 0.2);
  Rng rng(1);
  for (int k = 0; k < 30; ++k) {
    auto results = generation(cma, loss, rng, nullptr);
    for (CmaResult& one : results) one.active = {true, false, true};
    cma.update(results);
  }
  CHECK(cma.mean()[1] == 0.5);
  CHECK(std::abs(cma.mean()[0]) < 0.05);
}

TEST_CASE("cma: an injected result moves the mean by no more than a draw could") {
  const std::size_t n = 4;
  for (const bool injected : {true, false}) {
    CmaEs cma = plain(n, 0, 0.1);
    Rng rng(1);
    auto results = generation(cma, sphere, rng, nullptr);
    results.front() = {std::vector<double>(n, 1000), {}, injected};
    cma.update(results);
    CHECK((cma.mean()[0] < 0.5) == injected);
    CHECK((cma.deviation(0) < 1) == injected);
  }
}

TEST_CASE("cma: a discrete coordinate never freezes and still finds its cell") {
  // Of ten values the fourth is best; the other coordinates go on converging.
  std::vector<double> tenths;
  for (int k = 1; k < 10; ++k) tenths.push_back(k / 10.0);
  const auto cell = [](double x) { return std::clamp(std::floor(x * 10), 0.0, 9.0); };
  const Function loss = [&](const std::vector<double>& x) {
    return std::pow(cell(x[0]) - 3, 2) + 100 * (x[1] * x[1] + x[2] * x[2]);
  };
  for (std::uint64_t seed = 0; seed < 5; ++seed) {
    CmaEs cma({std::vector<double>(3, 0.8), 0.2, {}, false, 7}, {tenths, {}, {}});
    Rng rng(seed);
    for (int k = 0; k < 150; ++k) cma.update(generation(cma, loss, rng, nullptr));
    CHECK(cell(cma.mean()[0]) == 3);
    CHECK(cma.deviation(1) < 1e-6);
    CHECK(leaving(cma, 0, 0.3, 0.4) > 0.8 / 21);  // alpha = 1 / (3 * 7)
  }
}

TEST_CASE("cma: at the first and at the last cell the margin is one-sided") {
  for (const double sign : {1.0, -1.0}) {
    CmaEs cma({{0.5, 0.5}, 0.2, {}, false, 6}, {{0.25, 0.5, 0.75}, {}});
    Rng rng(3);
    const Function loss = [&](const std::vector<double>& x) {
      return sign * x[0] + std::abs(x[1]);
    };
    for (int k = 0; k < 100; ++k) {
      cma.update(generation(cma, loss, rng, nullptr));
      cma.bound_mean(0, 1);
    }
    CHECK((sign > 0 ? cma.mean()[0] <= 0.25 : cma.mean()[0] > 0.75));
    CHECK(leaving(cma, 0, sign > 0 ? -1e9 : 0.75, sign > 0 ? 0.25 : 1e9) > 0.8 / 12);
  }
}

TEST_CASE("cma: exhausted when converged and not before") {
  CmaEs cma = plain(3, 0.5, 0.2);
  Rng rng(1);
  CHECK_FALSE(cma.is_exhausted());
  int generations = 0;
  for (; !cma.is_exhausted() && generations < 2000; ++generations) {
    cma.update(generation(cma, sphere, rng, nullptr));
  }
  for (std::size_t i = 0; i < 3; ++i) CHECK(cma.deviation(i) < 1e-12 * 0.2);
  CHECK(generations > 60);
  CHECK(generations < 1000);
}

TEST_CASE("cma: exhausted when the step grows without end") {
  CmaEs cma = plain(3, 0.5, 0.2);
  Rng rng(1);
  const Function downhill = [](const std::vector<double>& x) { return x[0]; };
  for (int k = 0; k < 200 && !cma.is_exhausted(); ++k) {
    cma.update(generation(cma, downhill, rng, nullptr));
  }
  CHECK(cma.is_exhausted());
}

TEST_CASE("cma: a start with a covariance") {
  for (const bool diagonal : {false, true}) {
    const std::vector<double> full = {4, 0, 0, 1}, variances = {4, 1};
    CmaEs cma({{0, 0}, 0.5, diagonal ? variances : full, diagonal, 6}, CmaCells(2));
    CHECK(cma.deviation(0) == Approx(1));
    CHECK(cma.deviation(1) == Approx(0.5));
    CHECK(leaving(cma, 0, -1, 1) == Approx(0.317).margin(0.02));
  }
}

TEST_CASE("cma: saved and loaded it goes on bit by bit") {
  for (const bool diagonal : {false, true}) {
    const CmaCells cells = {{0.5}, {}, {}};
    CmaEs cma({{0.2, 0.8, 0.3}, 0.2, {}, diagonal, 7}, cells);
    Rng rng(1);
    for (int k = 0; k < 25; ++k) {
      auto loaded = CmaEs::load(parse_json(dump_json(cma.save())).value(), cells, diagonal, 7);
      REQUIRE(loaded);
      Rng same = rng;
      const auto expected = generation(cma, ellipsoid, rng, nullptr);
      const auto results = generation(*loaded, ellipsoid, same, nullptr);
      for (std::size_t i = 0; i < results.size(); ++i) REQUIRE(results[i].x == expected[i].x);
      cma.update(expected);
      loaded->update(results);
      REQUIRE(dump_json(loaded->save()) == dump_json(cma.save()));
    }
  }
}

TEST_CASE("cma: damaged states are declined") {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  CmaEs cma = plain(2, 0.5, 0.2);
  const json good = cma.save();
  REQUIRE(CmaEs::load(good, CmaCells(2), false, 6));
  CHECK_FALSE(CmaEs::load(good, CmaCells(3), false, 6));
  CHECK_FALSE(CmaEs::load(good, CmaCells(2), true, 6));
  for (const auto& [key, value] : good.items()) {
    json damaged = good;
    damaged.erase(key);
    CAPTURE(key);
    CHECK_FALSE(CmaEs::load(damaged, CmaCells(2), false, 6));
    damaged = good;
    damaged[key] = value.is_string() ? save_numbers(std::vector{nan, 1.0, 1.0, 1.0}) : json(-1);
    CHECK_FALSE(CmaEs::load(damaged, CmaCells(2), false, 6));
  }
  // Not positive definite, but nothing that must not be read: draws remain finite.
  json odd = good;
  odd["covariance"] = save_numbers(std::vector{1.0, 5.0, 5.0, 1.0});
  auto loaded = CmaEs::load(odd, CmaCells(2), false, 6);
  REQUIRE(loaded);
  Rng rng(1);
  for (const double x : loaded->sample(rng)) CHECK(std::isfinite(x));
  CHECK(loaded->is_exhausted());
}

}  // namespace attune::cma_es_test
