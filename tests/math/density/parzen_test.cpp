#include "math/density/parzen.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>

namespace attune::parzen_test {

// Equally spaced integration of the density over [low, high].
double integral(const Parzen& parzen, double low, double high) {
  const int steps = 20000;
  const double width = (high - low) / steps;
  double sum = 0;
  for (int i = 0; i < steps; ++i) sum += std::exp(parzen.log_density(low + (i + 0.5) * width));
  return sum * width;
}

// The definition, unmerged and in logarithms, for comparison.
double plain_log_density(const WeightedPoints& data, const ParzenPrior& prior, double x) {
  auto points = data.points;
  auto weights = data.weights;
  const auto at = std::ranges::lower_bound(points, prior.mu) - points.begin();
  points.insert(points.begin() + at, prior.mu);
  weights.insert(weights.begin() + at, prior.weight);
  const std::size_t n = points.size();
  const double smallest = prior.sigma / static_cast<double>(std::min<std::size_t>(100, n + 1));
  double density = 0, mass = 0;
  for (std::size_t i = 0; i < n; ++i) {
    const double left = i > 0 ? points[i] - points[i - 1] : 0;
    const double right = i + 1 < n ? points[i + 1] - points[i] : 0;
    double sigma = std::clamp(std::max(left, right), smallest, prior.sigma);
    if (std::ptrdiff_t(i) == at) sigma = prior.sigma;
    const double z = (x - points[i]) / sigma;
    density += weights[i] * std::exp(-0.5 * z * z) / (sigma * std::sqrt(2 * M_PI));
    mass += weights[i] * 0.5 *
            (std::erf((prior.high - points[i]) / sigma / M_SQRT2) -
             std::erf((prior.low - points[i]) / sigma / M_SQRT2));
  }
  return std::log(density) - std::log(mass);
}

WeightedPoints scattered(std::size_t n, Rng rng) {
  WeightedPoints data;
  for (std::size_t i = 0; i < n; ++i) {
    // Half of them crowd, as they do late in a search.
    data.points.push_back(i % 2 ? rng.uniform() : std::clamp(0.3 + 0.01 * rng.normal(), 0.0, 1.0));
    data.weights.push_back(rng.uniform(0.1, 1));
  }
  std::ranges::sort(data.points);
  return data;
}

const ParzenPrior kUnit = {.mu = 0.5, .sigma = 1, .low = 0, .high = 1, .weight = 1};

TEST_CASE("the prior alone is a truncated normal") {
  const Parzen parzen({}, kUnit);
  CHECK(parzen.log_density(0.5) == Approx(std::log(0.3989422804014327 / 0.38292492254802624)));
  CHECK(std::isinf(parzen.log_density(1.1)));
  CHECK(std::isinf(parzen.log_density(std::nan(""))));
}

TEST_CASE("one observation gets half the prior's deviation") {
  const ParzenPrior open = {.mu = 0, .sigma = 2};
  const Parzen parzen({{1}, {1}}, open);
  const auto normal = [](double x, double mu, double sigma) {
    return std::exp(-0.5 * std::pow((x - mu) / sigma, 2)) / (sigma * std::sqrt(2 * M_PI));
  };
  CHECK(parzen.log_density(0.7) ==
        Approx(std::log(0.5 * normal(0.7, 1, 1) + 0.5 * normal(0.7, 0, 2))));
}

TEST_CASE("the prior's weight counts") {
  const WeightedPoints data = {{0.1, 0.12}, {1, 1}};
  ParzenPrior heavy = kUnit;
  heavy.weight = 100;
  CHECK(Parzen(data, heavy).log_density(0.1) < Parzen(data, kUnit).log_density(0.1) - 0.5);
}

TEST_CASE("the density integrates to one, merged or not") {
  const std::size_t n = GENERATE(1u, 2u, 30u, 199u, 200u, 3000u);
  CAPTURE(n);
  CHECK(integral(Parzen(scattered(n, Rng(n)), kUnit), 0, 1) == Approx(1).epsilon(1e-4));
}

TEST_CASE("few observations: the density is the definition's") {
  const WeightedPoints data = scattered(150, Rng(1));
  const Parzen parzen(data, kUnit);
  for (double x = 0; x <= 1; x += 0.001) {
    CHECK(std::abs(parzen.log_density(x) - plain_log_density(data, kUnit, x)) < 1e-9);
  }
}

TEST_CASE("many observations: merging moves the logarithm by less than 1e-3") {
  const WeightedPoints data = scattered(10000, Rng(2));
  const Parzen parzen(data, kUnit);
  double worst = 0;
  for (double x = 0; x <= 1; x += 0.001) {
    worst = std::max(worst, std::abs(parzen.log_density(x) - plain_log_density(data, kUnit, x)));
  }
  CAPTURE(worst);
  CHECK(worst < 1e-3);
}

TEST_CASE("heights are in proportion to the density") {
  const std::size_t n = GENERATE(0u, 1u, 7u, 150u, 199u, 200u, 5000u);
  // On a scale on which single precision alone would see steps.
  const double from = GENERATE(0.0, 1e5, -1e-9);
  WeightedPoints data = scattered(n, Rng(n));
  for (double& x : data.points) x += from;
  ParzenPrior prior = kUnit;
  prior.mu += from;
  prior.low += from;
  prior.high += from;
  const Parzen parzen(data, prior);
  std::vector<double> x = {prior.mu};
  for (double at = 0; at <= 1; at += 0.0013) x.push_back(from + at);
  std::vector<double> heights(x.size());
  parzen.heights(x, heights);
  REQUIRE(heights[0] > 0);
  const double unit = std::log(heights[0]) - parzen.log_height(x[0]);
  for (std::size_t i = 0; i < x.size(); ++i) {
    CAPTURE(n, from, x[i]);
    REQUIRE(heights[i] > 0);
    CHECK(std::abs(std::log(heights[i]) - parzen.log_height(x[i]) - unit) <
          2 * Parzen::kHeightError);
    CHECK(parzen.log_density(x[i]) - parzen.log_height(x[i]) ==
          Approx(parzen.log_density(x[0]) - parzen.log_height(x[0])).margin(1e-12));
  }
}

TEST_CASE("heights that cannot be told are 0") {
  const Parzen parzen({{0, 0.1, 1e300}, {1, 1, 1}}, {.mu = 0, .sigma = 1});
  const std::vector<double> x = {0.05, 30, 1e9, -1e14, 1e300};
  std::vector<double> heights(x.size());
  parzen.heights(x, heights);
  CHECK(heights[0] > 0);
  for (std::size_t i = 1; i < x.size(); ++i) CHECK(heights[i] == 0);
}

TEST_CASE("the scale of a prior does not matter to heights") {
  const double sigma = GENERATE(1e-300, 1e-20, 1e20, 1e306);
  const Parzen parzen({{-sigma, 0.3 * sigma}, {1, 1}}, {.mu = 0, .sigma = sigma});
  const Parzen unit({{-1, 0.3}, {1, 1}}, {.mu = 0, .sigma = 1});
  for (const double at : {-1.5, 0.0, 0.3, 2.0}) {
    const double x = at * sigma;
    double height = 0, expected = 0;
    parzen.heights({&x, 1}, {&height, 1});
    unit.heights({&at, 1}, {&expected, 1});
    CAPTURE(sigma, at);
    CHECK(expected > 0);
    CHECK(height == Approx(expected).epsilon(1e-5));
  }
}

TEST_CASE("samples follow the density") {
  const Parzen parzen({{0.05, 0.1, 0.95}, {1, 1, 1}}, kUnit);
  const Parzen::Sampler sampler(parzen);
  Rng rng(3);
  const int n = 100000, bins = 20;
  std::vector<double> counted(bins);
  for (int i = 0; i < n; ++i) {
    const double x = sampler(rng);
    REQUIRE((x >= 0 && x <= 1));
    counted[std::min<std::size_t>(bins - 1, static_cast<std::size_t>(x * bins))] += 1.0 / n;
  }
  for (int bin = 0; bin < bins; ++bin) {
    const double expected = integral(parzen, bin / 20.0, (bin + 1) / 20.0);
    CAPTURE(bin);
    // Five standard deviations of a binomial share.
    CHECK(std::abs(counted[std::size_t(bin)] - expected) < 5 * std::sqrt(expected / n));
  }
}

TEST_CASE("a component far outside of the truncation is harmless") {
  const Parzen parzen({{-1e6, -40, 50}, {1, 1, 1}}, kUnit);
  const Parzen::Sampler sampler(parzen);
  Rng rng(4);
  for (int i = 0; i < 1000; ++i) {
    const double x = sampler(rng);
    REQUIRE((x >= 0 && x <= 1));
  }
  CHECK(integral(parzen, 0, 1) == Approx(1).epsilon(1e-4));
  CHECK(std::isfinite(parzen.log_density(0)));
}

TEST_CASE("far tails keep a finite logarithm") {
  const Parzen parzen({{0, 0.1}, {1, 1}}, {.mu = 0, .sigma = 1});
  CHECK(std::isfinite(parzen.log_density(1e6)));
  CHECK(parzen.log_density(1e6) < parzen.log_density(1e5));
}

TEST_CASE("weights far outside: a lone component beyond the bounds is cut to its tail") {
  // Nearly all accepted mass is the tail of the component at -1; it falls away from the low end.
  const Parzen::Sampler sampler(Parzen({{-1}, {1e9}}, kUnit));
  Rng rng(5);
  double sum = 0;
  for (int i = 0; i < 10000; ++i) sum += sampler(rng);
  // Mean of N(-1, 0.5) between 0 and 1: mu + sigma (phi(2) - phi(4)) / (Phi(4) - Phi(2)).
  const double expected =
      -1 + 0.5 * (0.05399096651 - 0.00013383022) / (0.02275013195 - 0.00003167124);
  CHECK(sum / 10000 == Approx(expected).epsilon(0.03));
}

}  // namespace attune::parzen_test
