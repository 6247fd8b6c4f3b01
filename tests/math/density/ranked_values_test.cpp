#include "math/density/ranked_values.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <functional>

#include "base/rng.h"

namespace attune::ranked_values_test {

struct Seen {
  double value, loss;
};

template <class T, class Key>
void sort_stably(std::vector<T>& items, Key key) {
  std::vector<T> sorted;
  for (const T& item : items) {
    sorted.insert(std::ranges::upper_bound(sorted, std::invoke(key, item), {}, key), item);
  }
  items = std::move(sorted);
}

// The rule as it reads: sort everything, cut, weigh.
Split plain_split(std::vector<Seen> seen, const std::vector<double>& pending, double lie,
                  const SplitRule& rule) {
  for (const double value : pending) seen.push_back({value, lie});
  sort_stably(seen, &Seen::loss);
  const std::size_t n = seen.size();
  const auto below = std::min(
      {n, rule.forgetting, static_cast<std::size_t>(std::ceil(rule.gamma * std::sqrt(n)))});
  Split result;
  const auto side = [&](std::size_t from, std::size_t to, WeightedPoints& out) {
    const std::size_t k = to - from;
    std::vector<std::pair<double, double>> pairs;
    for (std::size_t i = 0; i < k; ++i) {
      double weight = 1;
      if (k > rule.forgetting && i < k - rule.forgetting) {
        const std::size_t ramp = k - rule.forgetting;
        weight = 1.0 / double(k);
        if (ramp > 1) weight += (1 - 1.0 / double(k)) * double(i) / double(ramp - 1);
      }
      pairs.emplace_back(seen[from + i].value, weight);
    }
    sort_stably(pairs, &std::pair<double, double>::first);
    for (const auto& [value, weight] : pairs) {
      out.points.push_back(value);
      out.weights.push_back(weight);
    }
  };
  side(0, below, result.below);
  side(below, n, result.above);
  return result;
}

void check_same(const WeightedPoints& a, const WeightedPoints& b) {
  CHECK(a.points == b.points);
  REQUIRE(a.weights.size() == b.weights.size());
  for (std::size_t i = 0; i < a.weights.size(); ++i) CHECK(a.weights[i] == Approx(b.weights[i]));
}

TEST_CASE("split is the rule, with ties, pending values and every size") {
  Rng rng(11);
  for (const std::size_t n : {0u, 1u, 5u, 20u, 26u, 27u, 60u, 300u}) {
    for (const std::size_t waiting : {0u, 1u, 7u, 40u}) {
      CAPTURE(n, waiting);
      std::vector<Seen> seen;
      RankedValues observed;
      for (std::size_t i = 0; i < n; ++i) {
        seen.push_back({double(rng.index(10)), double(rng.index(12))});  // many ties
        observed.insert(seen.back().value, seen.back().loss);
      }
      std::vector<double> pending;
      std::vector<PendingValue> sorted;
      for (std::size_t i = 0; i < waiting; ++i) {
        pending.push_back(double(rng.index(10)));
        sorted.push_back({pending.back(), std::uint32_t(i)});
      }
      std::ranges::sort(sorted);
      const SplitRule rule = {.gamma = 0.25 + 0.5 * rng.uniform(), .forgetting = 25};
      const double lie = double(rng.index(12));
      Split fast = {{{7}, {7}}, {{7}, {7}}};  // is overwritten
      split(observed, sorted, lie, rule, fast);
      const Split plain = plain_split(seen, pending, lie, rule);
      check_same(fast.below, plain.below);
      check_same(fast.above, plain.above);
    }
  }
}

TEST_CASE("a restored object is the saved one, and goes on alike") {
  Rng rng(12);
  RankedValues original;
  for (int i = 0; i < 200; ++i) original.insert(double(rng.index(20)), double(rng.index(20)));
  RankedValues restored = RankedValues::restore(original.values_by_loss(), original.losses());
  for (int i = 0; i < 50; ++i) {
    const double value = double(rng.index(20)), loss = double(rng.index(20));
    original.insert(value, loss);
    restored.insert(value, loss);
  }
  CHECK(original.values() == restored.values());
  CHECK(original.ranks() == restored.ranks());
  CHECK(original.losses() == restored.losses());
}

TEST_CASE("ranked values: many at once are the same as one by one") {
  Rng rng(13);
  RankedValues one, many;
  for (const std::size_t count : {0, 5, 200, 40, 1, 300}) {
    std::vector<double> values, losses;
    for (std::size_t i = 0; i < count; ++i) {
      values.push_back(double(rng.index(20)));
      losses.push_back(double(rng.index(20)));
      one.insert(values.back(), losses.back());
    }
    many.insert_all(values, losses);
    REQUIRE(many.values() == one.values());
    REQUIRE(many.ranks() == one.ranks());
    REQUIRE(many.losses() == one.losses());
  }
}

}  // namespace attune::ranked_values_test
