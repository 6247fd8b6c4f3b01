#include "math/array_passes.h"

#include <array>
#include <bit>
#include <catch2/catch.hpp>
#include <cmath>
#include <limits>
#include <vector>

#include "base/rng.h"
#include "math/fast_exp.h"

namespace attune::array_passes_test {

constexpr float kInfinity = std::numeric_limits<float>::infinity();

// Arguments for every pass, of n components.
struct Arrays {
  std::vector<float> high, low, scale, height, terms;

  Arrays(std::size_t n, Rng rng) {
    for (std::size_t j = 0; j < n; ++j) {
      const TwoFloats mean = two_floats(rng.uniform(-1, 1));
      high.push_back(mean.high);
      low.push_back(mean.low);
      scale.push_back(static_cast<float>(1 / rng.uniform(0.005, 1)));
      height.push_back(static_cast<float>(rng.uniform(0, 1e6)));
      terms.push_back(static_cast<float>(rng.uniform(-90, 20)));
    }
  }
  NormalTerms normals() const { return {high, low, scale, height}; }
};

std::vector<NormalWindow> windows(std::size_t n) {
  std::vector<NormalWindow> all;
  for (std::size_t from = 0; from <= n; from += ArrayPasses::kLanes) {
    for (std::size_t to = from; to <= n; to += ArrayPasses::kLanes) {
      all.push_back({two_floats(0.9 - 1.7 * static_cast<double>(to) / 40), from, to});
    }
  }
  return all;
}

std::vector<std::uint32_t> bits(const std::vector<float>& numbers) {
  std::vector<std::uint32_t> all;
  for (const float x : numbers) all.push_back(std::bit_cast<std::uint32_t>(x));
  return all;
}

// Everything that the passes make of some arguments.
std::vector<std::uint32_t> results(const ArrayPasses& passes, std::size_t n) {
  const Arrays given(n, Rng(n));
  std::vector<float> all;
  const auto keep = [&](const std::vector<float>& more) {
    all.insert(all.end(), more.begin(), more.end());
  };
  std::vector<float> out = given.terms;
  passes.subtract_squares(0.3f, given.high, given.scale, out);
  keep(out);
  passes.add_misses(given.high[n / 2], given.high, given.terms, out);
  keep(out);
  passes.truncated_peaks(-1, 1, given.high, given.scale, out);
  keep(out);
  out = given.terms;
  all.push_back(static_cast<float>(passes.log_sum(out)));
  keep(out);
  if (n % ArrayPasses::kLanes == 0) {
    const auto where = windows(n);
    out.resize(where.size());
    passes.sums_of_normals(given.normals(), n / 16 * 8, where, out);
    keep(out);
  }
  return bits(all);
}

constexpr std::array<double, 4> kFour = {0.25, -1, 0.7, 1e-3}, kWeights = {1.7, 0.3, 1e-5, 40};

// And of doubles.
std::vector<std::uint64_t> double_results(const ArrayPasses& passes, std::size_t n) {
  Rng rng(n);
  std::vector<double> column, a, out(n, 0.5);
  for (std::size_t i = 0; i < n; ++i) {
    column.push_back(rng.uniform() < 0.5 ? 0.25 : rng.uniform());
    a.push_back(rng.normal());
  }
  passes.add_squares(0.25, 1.7, column, out);
  passes.add_four_squares(kFour, kWeights, {column.data(), a.data(), column.data(), a.data()}, out);
  passes.add_mismatches(0.25, 0.3, column, out);
  out.push_back(passes.weigh_squares(0.25, column, a));
  out.push_back(passes.weigh_mismatches(0.25, column, a));
  out.push_back(passes.weigh_differences(0.25, column, a));
  std::vector<std::uint64_t> all;
  for (const double x : out) all.push_back(std::bit_cast<std::uint64_t>(x));
  return all;
}

TEST_CASE("exp_minus is the exponential in single precision") {
  for (float x = 0; x < 87; x += 0.0137f) {
    const double exact = std::exp(-static_cast<double>(x));
    CHECK(std::abs(static_cast<double>(exp_minus(x)) / exact - 1) < 3e-7);
    float coarse = 0;
    exp_minus<float, std::int32_t, 5>(x, coarse);
    CHECK(std::abs(static_cast<double>(coarse) / exact - 1) < 4e-6);
  }
  CHECK(exp_minus(0) == 1);
  CHECK(exp_minus(std::numeric_limits<float>::denorm_min()) == 1);
  CHECK(exp_minus(1e30f) == exp_minus(87));
  CHECK(exp_minus(kInfinity) == exp_minus(87));
  CHECK(exp_minus(kInfinity) < 1e-37f);
  CHECK(std::fpclassify(exp_minus(kInfinity)) == FP_NORMAL);
}

TEST_CASE("two floats keep what one loses") {
  for (const double x : {0.0, 1.0, 0.1, -1.0 / 3, 123456.789, 1e-30}) {
    const auto [high, low] = two_floats(x);
    CHECK(static_cast<double>(high) + static_cast<double>(low) == Approx(x).epsilon(1e-14));
  }
}

TEST_CASE("passes have the same bits with and without AVX2") {
  const ArrayPasses* avx2 = avx2_array_passes();
  if (!avx2) {
    WARN("this processor has no AVX2");
    return;
  }
  for (const std::size_t n : {1u, 2u, 7u, 8u, 15u, 16u, 17u, 40u, 99u, 100u, 218u, 1000u}) {
    CAPTURE(n);
    CHECK(results(*avx2, n) == results(plain_array_passes(), n));
    CHECK(double_results(*avx2, n) == double_results(plain_array_passes(), n));
  }
}

TEST_CASE("four columns at once have the bits of four passes") {
  for (const std::size_t n : {0u, 1u, 3u, 4u, 5u, 17u, 200u}) {
    CAPTURE(n);
    Rng rng(n);
    std::array<std::vector<double>, 4> columns;
    std::array<const double*, 4> starts{};
    std::vector<double> one(n, 0.1), all = one;
    for (std::size_t k = 0; k < 4; ++k) {
      for (std::size_t i = 0; i < n; ++i) columns[k].push_back(rng.normal());
      starts[k] = columns[k].data();
      array_passes().add_squares(kFour[k], kWeights[k], columns[k], one);
    }
    array_passes().add_four_squares(kFour, kWeights, starts, all);
    CHECK(all == one);
  }
}

TEST_CASE("sums of normals are those of the definition") {
  const std::size_t n = 40, always = 8;
  const Arrays given(n, Rng(7));
  const auto where = windows(n);
  std::vector<float> sums(where.size());
  array_passes().sums_of_normals(given.normals(), always, where, sums);
  for (std::size_t i = 0; i < where.size(); ++i) {
    const auto& [x, from, to] = where[i];
    double sum = 0, left_out = 0;
    const auto add = [&](std::size_t first, std::size_t last) {
      for (std::size_t j = first; j < last; ++j) {
        const double mean = static_cast<double>(given.high[j]) + static_cast<double>(given.low[j]);
        const double at = static_cast<double>(x.high) + static_cast<double>(x.low);
        const double z = (at - mean) * static_cast<double>(given.scale[j]);
        sum += static_cast<double>(given.height[j]) * std::exp(-z * z);
        left_out += static_cast<double>(given.height[j]) * 1e-12;
      }
    };
    add(0, always);
    add(from, to);
    CAPTURE(from, to);
    CHECK(std::abs(static_cast<double>(sums[i]) - sum) <= 2e-5 * sum + left_out);
  }
}

TEST_CASE("the logarithm of a sum of exponentials does not overflow") {
  for (const std::size_t n : {1u, 5u, 16u, 33u}) {
    for (const float shift : {0.0f, -1e4f, 3000.0f}) {
      std::vector<float> terms;
      double sum = 0;
      for (std::size_t j = 0; j < n; ++j) {
        terms.push_back(shift - static_cast<float>(j));
        sum += std::exp(-static_cast<double>(j));
      }
      CAPTURE(n, shift);
      CHECK(array_passes().log_sum(terms) ==
            Approx(static_cast<double>(shift) + std::log(sum)).margin(1e-6));
    }
  }
}

TEST_CASE("squares and misses are taken from the terms of each component") {
  std::vector<float> terms(11, 1);
  const std::vector<float> middle = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10};
  const std::vector<float> scale(11, 0.5f);
  array_passes().subtract_squares(4, middle, scale, terms);
  for (std::size_t j = 0; j < 11; ++j) {
    const float distance = (4 - middle[j]) / 2;
    CHECK(terms[j] == 1 - distance * distance);
  }
  terms.assign(11, 1);
  array_passes().add_misses(9, middle, std::vector<float>(11, -3), terms);
  for (std::size_t j = 0; j < 11; ++j) CHECK(terms[j] == (j == 9 ? 1 : -2));
}

TEST_CASE("truncated peaks make up for what is outside") {
  const std::vector<float> middle = {0, 0.25f, 1}, scale = {100, 2, 1};
  std::vector<float> peaks(3);
  array_passes().truncated_peaks(0, 1, middle, scale, peaks);
  for (std::size_t j = 0; j < 3; ++j) {
    const double s = static_cast<double>(scale[j]), m = static_cast<double>(middle[j]);
    const double inside = (std::erf((1 - m) * s) - std::erf((0 - m) * s)) / 2;
    CHECK(static_cast<double>(peaks[j]) == Approx(s / inside).epsilon(2e-6));
  }
}

}  // namespace attune::array_passes_test
