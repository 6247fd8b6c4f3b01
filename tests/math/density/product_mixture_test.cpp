#include "math/density/product_mixture.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>

namespace attune::product_mixture_test {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

struct Given {
  std::vector<MixtureAxis> axes;
  std::vector<MixtureKernel> kernels;  // axis by axis
  std::vector<double> weights;

  ProductMixture mixture() const { return {axes, kernels, weights}; }
};

double normal_below(double z) { return 0.5 * std::erfc(-z / std::sqrt(2)); }

// The definition, in double precision and without logarithms.
double plain_density(const Given& given, const std::vector<double>& x) {
  const std::size_t n = given.weights.size();
  double sum = 0, total = 0;
  for (std::size_t j = 0; j < n; ++j) {
    double product = given.weights[j];
    total += given.weights[j];
    for (std::size_t a = 0; a < given.axes.size(); ++a) {
      const auto& [low, high, categories] = given.axes[a];
      const auto& [centre, width, cell] = given.kernels[a * n + j];
      if (categories > 0) {
        product *= width / categories + (x[a] == centre ? 1 - width : 0);
      } else if (std::isinf(width)) {
        product /= high - low;
      } else {
        const double s = std::sqrt(width * width + cell * cell / 12);
        product *= std::exp(-0.5 * std::pow((x[a] - centre) / s, 2)) /
                   (s * std::sqrt(2 * M_PI) *
                    (normal_below((high - centre) / s) - normal_below((low - centre) / s)));
      }
    }
    sum += product;
  }
  return sum / total;
}

double log_density(const ProductMixture& mixture, const std::vector<double>& x) {
  double result = 0;
  mixture.log_densities(x, std::span(&result, 1));
  return result;
}

// Two numbers, one of them with cells, an unbounded one, and a category; the last component is the
// declared distribution.
Given scattered(std::size_t n, Rng rng) {
  Given given;
  given.axes = {{0, 1, 0}, {-2, 3, 0}, {-kInfinity, kInfinity, 0}, {0, 1, 4}};
  for (std::size_t a = 0; a < given.axes.size(); ++a) {
    for (std::size_t j = 0; j + 1 < n; ++j) {
      const double width = rng.uniform(0.02, 0.3);
      given.kernels.push_back(a == 0   ? MixtureKernel{rng.uniform(), width, 0}
                              : a == 1 ? MixtureKernel{rng.uniform(-2, 3), width, 0.25}
                              : a == 2 ? MixtureKernel{rng.normal(), width, 0}
                                       : MixtureKernel{double(rng.index(4)), width, 0});
    }
    given.kernels.push_back(a < 2 ? MixtureKernel{given.axes[a].low, kInfinity, 0}
                                  : MixtureKernel{0, 1, 0});
  }
  for (std::size_t j = 0; j < n; ++j) given.weights.push_back(rng.uniform(0.1, 3));
  return given;
}

std::vector<double> anywhere(Rng& rng) {
  return {rng.uniform(), rng.uniform(-2, 3), 2 * rng.normal(), double(rng.index(4))};
}

TEST_CASE("one component on one number is a truncated normal") {
  const ProductMixture mixture = Given{{{0, 1, 0}}, {{0.25, 0.5, 0}}, {7}}.mixture();
  // Phi(1.5) - Phi(-0.5) = 0.6246552600.
  const auto exact = [](double x) {
    return -0.5 * std::pow((x - 0.25) / 0.5, 2) - std::log(0.5 * std::sqrt(2 * M_PI)) -
           std::log(0.6246552600);
  };
  for (const double x : {0.0, 0.25, 0.6, 1.0}) {
    CHECK(log_density(mixture, {x}) == Approx(exact(x)).margin(1e-5));
  }
}

TEST_CASE("the product mixture is its definition") {
  const std::size_t n = GENERATE(1u, 2u, 5u, 27u, 300u);
  CAPTURE(n);
  const Given given = scattered(n, Rng(n));
  const ProductMixture mixture = given.mixture();
  Rng rng(1);
  for (int i = 0; i < 300; ++i) {
    const std::vector<double> x = anywhere(rng);
    CHECK(log_density(mixture, x) == Approx(std::log(plain_density(given, x))).margin(1e-4));
  }
}

TEST_CASE("many points at once are as one by one") {
  const ProductMixture mixture = scattered(50, Rng(3)).mixture();
  Rng rng(2);
  std::vector<double> points;
  std::vector<double> expected;
  for (int i = 0; i < 21; ++i) {
    const std::vector<double> x = anywhere(rng);
    points.insert(points.end(), x.begin(), x.end());
    expected.push_back(log_density(mixture, x));
  }
  std::vector<double> all(21);
  mixture.log_densities(points, all);
  CHECK(all == expected);
}

TEST_CASE("the product mixture integrates to one") {
  const std::size_t n = 12;
  Given given = scattered(n, Rng(5));
  // The bounded number and the category.
  given.axes = {given.axes[0], given.axes[3]};
  std::vector<MixtureKernel> kernels(given.kernels.begin(), given.kernels.begin() + n);
  kernels.insert(kernels.end(), given.kernels.end() - n, given.kernels.end());
  given.kernels = kernels;
  const ProductMixture mixture = given.mixture();
  const int steps = 2000;
  double sum = 0;
  for (int i = 0; i < steps; ++i) {
    for (int c = 0; c < 4; ++c)
      sum += std::exp(log_density(mixture, {(i + 0.5) / steps, double(c)}));
  }
  CHECK(sum / steps == Approx(1).epsilon(1e-4));
}

TEST_CASE("draws follow the product mixture") {
  // Two clusters in opposite corners: what marginals alone would not show.
  const Given given = {
      {{0, 1, 0}, {0, 1, 3}}, {{0.2, 0.1, 0}, {0.8, 0.1, 0}, {0, 0.15, 0}, {2, 0.3, 0}}, {1, 3}};
  const ProductMixture mixture = given.mixture();
  Rng rng(4);
  const int n = 100000;
  std::vector<double> counted(12);
  for (int i = 0; i < n; ++i) {
    std::vector<double> x(2);
    mixture.sample(rng, x);
    REQUIRE((x[0] >= 0 && x[0] <= 1));
    if (x[1] == ProductMixture::kAnyCategory) x[1] = double(rng.index(3));
    counted[std::min<std::size_t>(3, static_cast<std::size_t>(4 * x[0])) * 3 +
            static_cast<std::size_t>(x[1])] += 1.0 / n;
  }
  for (std::size_t bin = 0; bin < 12; ++bin) {
    double expected = 0;
    for (int i = 0; i < 500; ++i) {
      expected +=
          plain_density(given, {(double(bin / 3) + (i + 0.5) / 500) / 4, double(bin % 3)}) / 2000;
    }
    CAPTURE(bin);
    CHECK(std::abs(counted[bin] - expected) < 5 * std::sqrt(expected / n) + 1e-6);
  }
}

TEST_CASE("a cell stands for the mass of its interval") {
  for (const double cell : {0.01, 0.05, 0.1}) {
    const double width = 0.05;
    const ProductMixture mixture =
        Given{{{-kInfinity, kInfinity, 0}}, {{0, width, cell}}, {1}}.mixture();
    for (double x = 0; x <= 2 * width; x += cell) {
      const double mass =
          normal_below((x + cell / 2) / width) - normal_below((x - cell / 2) / width);
      CAPTURE(cell, x);
      CHECK(log_density(mixture, {x}) + std::log(cell) == Approx(std::log(mass)).margin(0.05));
    }
  }
}

TEST_CASE("hundreds of narrow axes neither overflow nor underflow") {
  const std::size_t d = 400;
  Given given;
  given.axes.assign(d, {0, 1, 0});
  given.kernels.assign(d, {0.5, 1e-3, 0});
  given.weights = {1};
  const double log = log_density(given.mixture(), std::vector<double>(d, 0.5));
  CHECK(log == Approx(400 * -std::log(1e-3 * std::sqrt(2 * M_PI))).epsilon(1e-6));
  CHECK(std::isfinite(log_density(given.mixture(), std::vector<double>(d, 0.0))));
}

TEST_CASE("without axes the density is one") {
  const ProductMixture mixture = Given{{}, {}, {1, 2}}.mixture();
  std::vector<double> densities(3, 7);
  mixture.log_densities({}, densities);
  for (const double log : densities) CHECK(log == Approx(0).margin(1e-6));
}

}  // namespace attune::product_mixture_test
