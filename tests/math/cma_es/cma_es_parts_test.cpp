// What surrounds the normal distribution of CMA-ES: categories, history of losses, restarts.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <limits>
#include <numeric>

#include "base/saved_numbers.h"
#include "math/cma_es/cma_es_categories.h"
#include "math/cma_es/cma_es_history.h"
#include "math/cma_es/cma_es_restarts.h"
#include "math/cma_es/cma_es_warm_start.h"

namespace attune::cma_es_parts_test {

std::vector<double> shares(const CmaCategories& categories, int draws) {
  Rng rng(1);
  std::vector<double> sums(categories.size());
  for (int k = 0; k < draws; ++k) {
    const auto flags = categories.sample(rng);
    for (std::size_t i = 0; i < sums.size(); ++i) sums[i] += flags[i] / draws;
  }
  return sums;
}

double sum(std::span<const double> numbers) {
  return std::accumulate(numbers.begin(), numbers.end(), 0.0);
}

TEST_CASE("cma categories: at first all are equally likely and the right number is drawn") {
  const CmaCategories categories({{3, 1}, {5, 2}});
  Rng rng(2);
  for (int k = 0; k < 100; ++k) {
    const auto flags = categories.sample(rng);
    CHECK(sum(std::span(flags).first(3)) == 1);
    CHECK(sum(std::span(flags).last(5)) == 2);
  }
  const auto drawn = shares(categories, 20000);
  for (std::size_t i = 0; i < 8; ++i) CHECK(drawn[i] == Approx(i < 3 ? 1.0 / 3 : 0.4).margin(0.02));
}

TEST_CASE("cma categories: what is best becomes likely and the others keep their margin") {
  CmaCategories categories({{3, 1}, {4, 2}, {2, 1}});
  const CategoryResult best = {{0, 1, 0, 1, 0, 0, 1, 1, 0}, {true, true, false}};
  for (int k = 0; k < 60; ++k) categories.update(std::vector{best}, std::vector{1.0}, 3);
  const auto& p = categories.probabilities();
  const double least = 1 - std::pow(0.73, 1.0 / 3);
  CHECK(p[1] == Approx(1 - least).margin(1e-6));
  CHECK(p[0] == Approx(least / 2));
  CHECK(p[2] == Approx(least / 2));
  CHECK(sum(std::span(p).subspan(3, 4)) == Approx(2));
  CHECK(p[3] == Approx(1 - least / 3).margin(1e-3));
  CHECK(p[4] == Approx(least / 3).margin(1e-3));
  CHECK(p[7] == 0.5);  // had no effect
  CHECK(shares(categories, 20000)[1] == Approx(p[1]).margin(0.01));
}

TEST_CASE("cma categories: a single category of many is found by selection") {
  CmaCategories categories({{2, 1}, {6, 1}, {3, 1}});
  Rng rng(4);
  const std::vector<double> weights = {0.5, 0.3, 0.2};
  const auto loss = [](const CategoryResult& one) { return 1 - one.flags[1] - one.flags[4]; };
  for (int k = 0; k < 60; ++k) {
    std::vector<CategoryResult> results;
    for (int i = 0; i < 8; ++i) results.push_back({categories.sample(rng), {}});
    std::ranges::sort(results, {}, loss);
    categories.update(std::span(results).first(3), weights, 2.6);
  }
  CHECK(categories.probabilities()[1] > 0.7);
  CHECK(categories.probabilities()[4] > 0.7);
}

TEST_CASE("cma categories: learned from good results, and damaged states") {
  CmaCategories categories({{2, 1}, {4, 1}});
  categories.learn(std::vector<CategoryResult>{{{1, 0, 0, 0, 1, 0}, {true, false}}}, 0.6);
  CHECK(categories.probabilities()[0] == Approx(0.8));
  CHECK(categories.probabilities()[4] == Approx(0.25));
  CmaCategories other({{2, 1}, {4, 1}});
  REQUIRE(other.load(categories.save()));
  CHECK(other.probabilities() == categories.probabilities());
  for (const double bad : {0.0, 1.0, -1.0, std::numeric_limits<double>::quiet_NaN()}) {
    auto numbers = categories.probabilities();
    numbers[3] = bad;
    CHECK_FALSE(other.load(save_numbers(numbers)));
  }
  CHECK_FALSE(other.load(save_numbers(std::vector{0.5, 0.5})));
  Rng rng(1);
  CHECK(CmaCategories({}).sample(rng).empty());
}

TEST_CASE("cma warm start: mean and covariance of the mixture") {
  const std::vector<CmaResult> best = {{{0.2, 0.9, 0.3}, {true, true, false}, true},
                                       {{0.4, 0.5, 0.8}, {true, true, false}, true}};
  const CmaStart start = cma_warm_start(best, 0.25, false);
  CHECK(start.mean[0] == Approx(0.3));
  CHECK(start.mean[1] == Approx(0.7));
  CHECK(start.mean[2] == 0.5);
  const double square = start.sigma * start.sigma;
  const std::vector<double> expected = {0.02, -0.02, 0, -0.02, 0.05, 0, 0, 0, 0.0625};
  for (std::size_t i = 0; i < 9; ++i) CHECK(square * start.covariance[i] == Approx(expected[i]));
  const CmaStart diagonal = cma_warm_start(best, 0.25, true);
  for (std::size_t i = 0; i < 3; ++i) CHECK(diagonal.covariance[i] == start.covariance[i * 4]);
}

TEST_CASE("cma history: progress goes on and equal losses end it") {
  for (const double unit : {1e-300, 1.0, 1e300}) {
    CmaHistory history(4, 8);
    for (int k = 0; k < 100; ++k) {
      history.add(std::vector{unit * std::pow(0.9, k), 1.5 * unit * std::pow(0.9, k)});
      CHECK_FALSE(history.is_stalled());
    }
  }
  CmaHistory flat(4, 8);
  flat.add(std::vector{0.0, 1.0});
  for (int k = 0; k < 24; ++k) {
    CHECK_FALSE(flat.is_stalled());
    flat.add(std::vector{0.5, 0.5});
  }
  flat.add(std::vector{0.5, 0.5});
  CHECK(flat.is_stalled());
  CmaHistory huge(1, 4);
  for (int k = 0; k < 17; ++k) huge.add(std::vector{-1e308, 1e308});
  CHECK_FALSE(huge.is_stalled());
  huge.add({});  // nothing but failures
  CHECK_FALSE(huge.is_stalled());
}

TEST_CASE("cma history: noise without progress ends it after long") {
  CmaHistory history(4, 8), noisy(4, 8);
  Rng rng(1);
  int generations = 0;
  while (!noisy.is_stalled() && generations < 3000) {
    const double x = rng.uniform();
    noisy.add(std::vector{x, x + 1});
    history.add(std::vector{x - 0.1 * generations, x + 1 - 0.1 * generations});
    ++generations;
    CHECK_FALSE(history.is_stalled());
  }
  CHECK(generations >= 135);
  CHECK(generations < 1000);
}

TEST_CASE("cma history: saved and damaged") {
  CmaHistory history(2, 6), other(2, 6);
  Rng rng(1);
  for (int k = 0; k < 700; ++k) history.add(std::vector{rng.uniform(), 1 + rng.uniform()});
  REQUIRE(other.load(history.save()));
  CHECK(dump_json(other.save()) == dump_json(history.save()));
  json damaged = history.save();
  damaged["bests"] = save_numbers(std::vector{1.0});
  CHECK_FALSE(other.load(damaged));
  damaged = history.save();
  damaged["first_spread"] = -1;
  CHECK_FALSE(other.load(damaged));
  const std::vector<double> many(100000, 1.0);
  damaged = history.save();
  damaged["bests"] = damaged["medians"] = save_numbers(many);
  CHECK_FALSE(other.load(damaged));
}

TEST_CASE("cma restarts: ipop doubles and then stays") {
  RestartSchedule schedule(Restarts::ipop, 10);
  Rng rng(1);
  CHECK(schedule.run().population == 10);
  for (std::size_t k = 1; k <= 9; ++k) CHECK(schedule.next(rng).population == (10u << k));
  CHECK(schedule.next(rng).population == 10u << 9);
}

TEST_CASE("cma restarts: bipop spends as much on small populations as on large ones") {
  RestartSchedule schedule(Restarts::bipop, 8);
  Rng rng(1);
  schedule.count(1000);
  CHECK(schedule.next(rng).population == 16);
  schedule.count(4000);
  double large = 4000, small = 0;
  std::size_t previous = 16;
  for (int k = 0; k < 30; ++k) {
    const CmaRun run = schedule.next(rng);
    const bool is_small = small < large;
    const double results = 100 * static_cast<double>(run.population);
    (is_small ? small : large) += results;
    schedule.count(static_cast<std::size_t>(results));
    CHECK(run.population >= 8);
    if (is_small) {
      CHECK(run.population <= previous / 2);
      CHECK(run.sigma_factor <= 1);
      CHECK(run.sigma_factor >= 0.01);
    } else {
      CHECK(run.population == 2 * previous);
      CHECK(run.sigma_factor == 1);
      previous = run.population;
    }
    RestartSchedule other(Restarts::bipop, 8);
    REQUIRE(other.load(schedule.save()));
    CHECK(dump_json(other.save()) == dump_json(schedule.save()));
  }
  CHECK(previous > 16);
}

TEST_CASE("cma restarts: damaged states are declined") {
  RestartSchedule schedule(Restarts::bipop, 8);
  const json good = schedule.save();
  for (const auto& [key, value] : good.items()) {
    for (const json& bad : {json(-1), json(1e300), json("x"), json(0.001)}) {
      json damaged = good;
      damaged[key] = bad;
      if (key.ends_with("results") && bad == json(1e300)) continue;
      CAPTURE(key, dump_json(bad));
      CHECK_FALSE(schedule.load(damaged));
    }
  }
}

}  // namespace attune::cma_es_parts_test
