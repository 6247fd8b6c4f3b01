#include "math/variation.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <vector>

namespace attune::variation_test {

constexpr int kDraws = 20000;

template <class Draw>
std::vector<double> draws(Draw&& draw) {
  Rng rng(4);
  std::vector<double> all(kDraws);
  for (double& x : all) x = draw(rng);
  return all;
}

template <class Is>
double share(const std::vector<double>& all, Is&& is) {
  return static_cast<double>(std::ranges::count_if(all, is)) / static_cast<double>(all.size());
}

double mean(const std::vector<double>& all) {
  double sum = 0;
  for (const double x : all) sum += x;
  return sum / static_cast<double>(all.size());
}

TEST_CASE("variation: children of a crossover are as often within the parents as beyond") {
  for (const double eta : {0.0, 2.0, 20.0}) {
    CAPTURE(eta);
    // Far from the ends, where the bounds cut off next to nothing of large etas.
    const auto all =
        draws([&](Rng& rng) { return simulated_binary_crossover(0.5001, 0.4999, eta, rng); });
    CHECK(mean(all) == Approx(0.5).margin(0.002));
    const auto is_within = [](double x) { return x > 0.4999 && x < 0.5001; };
    CHECK(share(all, is_within) == Approx(0.5).margin(0.02));
    CHECK(share(all, [](double x) { return x > 0.5; }) == Approx(0.5).margin(0.02));
    // The spread's distribution: P(spread <= b) = b^(eta + 1) / 2 below 1.
    const auto is_near = [](double x) { return std::abs(x - 0.5) < 0.00008; };
    CHECK(share(all, is_near) == Approx(std::pow(0.8, eta + 1) / 2).margin(0.02));
  }
}

TEST_CASE("variation: a crossover stays inside") {
  for (const auto& [a, b] : {std::pair{0.0, 1.0}, {0.0, 1e-300}, {0.2, 1.0}, {1.0, 1.0}}) {
    CAPTURE(a, b);
    const auto all = draws([&](Rng& rng) { return simulated_binary_crossover(a, b, 1, rng); });
    CHECK(share(all, [](double x) { return x >= 0 && x <= 1; }) == 1);
    if (a == b) CHECK(share(all, [&](double x) { return x == a; }) == 1);
    // An end that is a parent is never left behind: nothing can be beyond it.
    if (a == 0) CHECK(share(all, [](double x) { return x < 1e-3; }) > 0);
  }
}

TEST_CASE("variation: mutations are up and down and smaller with a larger eta") {
  const auto wide = draws([](Rng& rng) { return polynomial_mutation(0.3, 1, rng); });
  const auto narrow = draws([](Rng& rng) { return polynomial_mutation(0.3, 50, rng); });
  for (const auto& all : {wide, narrow}) {
    CHECK(share(all, [](double x) { return x < 0.3; }) == Approx(0.5).margin(0.02));
    CHECK(share(all, [](double x) { return x >= 0 && x <= 1; }) == 1);
  }
  // P(step <= s) = 1 - (1 - s)^(eta + 1), where the end is far.
  const auto is_small = [](double x) { return std::abs(x - 0.3) < 0.02; };
  CHECK(share(narrow, is_small) == Approx(1 - std::pow(0.98, 51)).margin(0.02));
  CHECK(share(wide, is_small) < 0.1);
}

TEST_CASE("variation: a mutation at an end goes inwards or nowhere") {
  const auto low = draws([](Rng& rng) { return polynomial_mutation(0, 5, rng); });
  CHECK(share(low, [](double x) { return x == 0; }) == Approx(0.5).margin(0.02));
  CHECK(share(low, [](double x) { return x > 0 && x <= 1; }) == Approx(0.5).margin(0.02));
  const auto high = draws([](Rng& rng) { return polynomial_mutation(1, 5, rng); });
  CHECK(share(high, [](double x) { return x == 1; }) == Approx(0.5).margin(0.02));
  CHECK(share(high, [](double x) { return x < 1 && x >= 0; }) == Approx(0.5).margin(0.02));
}

}  // namespace attune::variation_test
