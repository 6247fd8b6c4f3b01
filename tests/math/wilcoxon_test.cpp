#include "math/wilcoxon.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <vector>

#include "base/rng.h"

namespace attune::wilcoxon_test {

struct Case {
  std::vector<double> differences;
  double p;
};

// From scipy 1.10.1: wilcoxon(d, zero_method="zsplit", alternative="greater") with the method that
// a later scipy chooses: "exact" without ties up to 50, permutation_test with all signs up to 13,
// else "approx".
const std::vector<Case> kScipy = {
    {{0.3, -0.1}, 0.5},
    {{1, 2, 3}, 0.125},
    {{-1, -2, -3}, 1.0},
    {{0.5, 1.5, -0.25, 2.0, 3.25, -1.0}, 0.109375},
    {{1, 1, 2, -1, 3}, 0.125},
    {{0, 0, 0}, 1.0},
    {{0, 1, 0, 2, -3, 3, 1}, 0.1875},
    {{1, 2, 2, -2, 3, 3, -1, 0, 4, 4, 5, -5, 6}, 0.0341796875},
    {{0.434, 1.76, 1.625, -0.11, 0.102, -0.127, 0.97, 0.344, 1.147, -1.447, 1.967, 0.304, 1.08,
      0.263},
     0.0101318359375},
    {{0.0,  0.9,  1.2,  0.2,  0.2,  1.1, -0.5, -1.1, 0.8,  -0.3,
      -1.5, -0.4, -0.1, -0.8, -1.1, 0.4, 1.3,  0.2,  -0.3, 0.8},
     0.39679643045606694},
    {{0.9172,  -0.1,    0.7447,  1.2429, -0.007,  -0.6135, 0.5477,  0.4475, 1.2988,  -1.0846,
      -0.4616, -0.6382, -1.534,  0.3264, 0.7278,  -0.5388, 1.5856,  1.0219, 0.8274,  0.6017,
      1.1557,  -1.132,  0.8139,  0.8028, -1.5677, 0.547,   -0.0504, 0.9815, -0.2391, 0.1818,
      0.5429,  -0.6763, 0.7986,  0.095,  0.6925,  -0.3218, 1.2862,  0.8052, 0.022,   0.832,
      1.4598,  1.9912,  -1.3736, 1.0831, 0.6651,  0.1061,  -0.8067, 1.4572, -1.0617, 0.7669},
     0.008092635107332491},
    {{1.5019, -1.3997, -0.1025, -1.1092, 0.4441,  1.7144, 2.2236,  -1.5781, -0.3749,
      0.9035, 1.7794,  0.6212,  -0.5462, 0.4971,  0.1834, -0.0037, -0.5345, 0.5873,
      0.5079, 0.107,   -0.0217, -1.0849, -0.2862, 1.4064, 0.0094,  -1.2397, 1.5344,
      0.7303, 2.3081,  0.2625,  -0.2614, -1.2476, 1.5238, 2.7695,  -0.6209, -0.4471,
      0.7962, -0.6303, -0.0706, -0.1498, 0.392,   1.2948, 0.2221,  1.1189,  -0.2199,
      0.5278, -1.9382, -1.2499, 0.9959,  -0.3901, 0.7799},
     0.07312751487298125},
    {{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}, 0.5},
    {{0, 0, 0, 0, 0, -4, -3, -2, -1, 0, 1, 2, 3, 4, 5}, 0.3338303470037718}};

TEST_CASE("signed-rank test: the p-values are scipy's") {
  for (const Case& one : kScipy) {
    CAPTURE(one.differences);
    CHECK(signed_rank_test(one.differences) == Approx(one.p).epsilon(1e-12));
  }
}

// Tries all signs, with zeros and ties as they come.
double by_enumeration(const std::vector<double>& d) {
  const std::size_t n = d.size();
  std::vector<double> rank(n);
  for (std::size_t i = 0; i < n; ++i) {
    for (const double x : d) {
      rank[i] += std::abs(x) < std::abs(d[i]) ? 1 : std::abs(x) == std::abs(d[i]) ? 0.5 : 0;
    }
    rank[i] += 0.5;
  }
  const auto statistic = [&](std::size_t flips) {
    double sum = 0;
    for (std::size_t i = 0; i < n; ++i) {
      const double x = flips >> i & 1 ? -d[i] : d[i];
      sum += x > 0 ? rank[i] : x == 0 ? rank[i] / 2 : 0;
    }
    return sum;
  };
  double as_large = 0;
  for (std::size_t flips = 0; flips < std::size_t{1} << n; ++flips) {
    as_large += statistic(flips) >= statistic(0);
  }
  return as_large / std::exp2(static_cast<double>(n));
}

TEST_CASE("signed-rank test: small samples are exact, with ties and zeros too") {
  Rng rng(8);
  for (int round = 0; round < 200; ++round) {
    std::vector<double> differences(1 + rng.index(10));
    for (double& x : differences) x = std::round(rng.normal() * (round % 2 ? 2 : 1000));
    CAPTURE(round, differences);
    REQUIRE(signed_rank_test(differences) == by_enumeration(differences));
  }
}

}  // namespace attune::wilcoxon_test
