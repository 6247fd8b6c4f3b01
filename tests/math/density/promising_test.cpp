#include "math/density/promising.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <limits>

#include "math/density/categorical.h"
#include "math/density/parzen.h"

namespace attune::promising_test {

WeightedPoints scattered(std::size_t n, Rng& rng, double low, double high, bool whole) {
  WeightedPoints data;
  for (std::size_t i = 0; i < n; ++i) {
    const double x = rng.uniform(low, high);
    data.points.push_back(whole ? std::floor(x) : x);
    data.weights.push_back(static_cast<double>(1 + rng.index(3)));
  }
  std::ranges::sort(data.points);
  return data;
}

// Each candidate compared exactly.
template <class Estimator>
double plainly_most_promising(const Estimator& good, const Estimator& rest,
                              const std::vector<double>& candidates) {
  double best = 0, best_score = -std::numeric_limits<double>::infinity();
  for (const double x : candidates) {
    const double score = good.log_height(x) - rest.log_height(x);
    if (score > best_score) {
      best = x;
      best_score = score;
    }
  }
  return best;
}

template <class Estimator>
void check(const Estimator& good, const Estimator& rest, const std::vector<double>& candidates) {
  std::size_t next = 0;
  CHECK(most_promising(good, rest, candidates.size(), [&] { return candidates[next++]; }) ==
        plainly_most_promising(good, rest, candidates));
  CHECK(next == candidates.size());
}

TEST_CASE("of numbers the most promising is found without comparing all") {
  const auto seed = GENERATE(range(0, 60));
  Rng rng(static_cast<std::uint64_t>(seed));
  const bool bounded = seed % 2 == 0;
  ParzenPrior prior = {.mu = 3, .sigma = 6};
  if (bounded) prior.low = 0, prior.high = 6;
  const Parzen good(scattered(1 + rng.index(25), rng, 1, 3, false), prior);
  const Parzen rest(scattered(rng.index(seed % 3 ? 180 : 3000), rng, 0, 6, false), prior);
  const Parzen::Sampler sampler(good);
  for (int i = 0; i < 20; ++i) {
    std::vector<double> candidates;
    for (int j = 0; j < 40; ++j) candidates.push_back(sampler(rng));
    // So near to each other that only exact densities tell them apart.
    for (int j = 0; j < 20; ++j) candidates.push_back(candidates[0] + (j - 10) * 1e-8);
    // Far in the tails, where there is nothing to tell from approximately.
    if (!bounded && i % 2) candidates.push_back(1000 + i);
    CAPTURE(seed, i);
    check(good, rest, candidates);
  }
}

TEST_CASE("of categories the most promising is found without comparing all") {
  Rng rng(1);
  for (int i = 0; i < 300; ++i) {
    const double categories = static_cast<double>(1 + rng.index(40));
    const Categorical good(scattered(rng.index(25), rng, 0, categories, true), categories, 1);
    const Categorical rest(scattered(rng.index(60), rng, 0, categories, true), categories, 1);
    std::vector<double> candidates;
    for (int j = 0; j < 24; ++j) candidates.push_back(std::floor(rng.uniform(0, categories)));
    check(good, rest, candidates);
  }
}

TEST_CASE("of equal candidates the first is the most promising") {
  const Parzen same({{1, 2}, {1, 1}}, {.mu = 0, .sigma = 3});
  check(same, same, {1.5, 0.5, 2.5});
  const Categorical nothing({}, 5, 1);
  check(nothing, nothing, {3, 1, 4});
}

}  // namespace attune::promising_test
