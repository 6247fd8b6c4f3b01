#include "math/trees/forest.h"

#include <catch2/catch.hpp>
#include <cmath>

namespace attune::forest_test {

using Numbers = std::vector<double>;

constexpr std::size_t kMany = 4000;  // trees; a share of them is known to 0.008

Forest fitted(std::vector<std::size_t> categories, const ForestSettings& settings,
              const Numbers& rows, const Numbers& targets, std::uint64_t seed = 1) {
  Forest forest(std::move(categories), settings);
  Rng rng(seed);
  forest.fit(rows, targets, rng);
  return forest;
}

double mean_at(const Forest& forest, const Numbers& row) { return forest.predict(row).mean; }

TEST_CASE("forest: a leaf has the mean and the variance of its targets") {
  const Forest forest = fitted({0}, {.trees = 3, .least_leaf = 3, .bootstrap = false},
                               {0.1, 0.2, 0.3, 0.4}, {1, 2, 3, 6});
  CHECK(forest.nodes() == 3);
  CHECK(mean_at(forest, {0.9}) == Approx(3));
  CHECK(forest.predict(Numbers{0.9}).variance == Approx(3.5));
}

TEST_CASE("forest: variances within and between trees add up") {
  // Of n draws with replacement the variance is (1 - 1/n) of the population's in expectation, and
  // their mean varies by 1/n of it.
  const Forest forest =
      fitted({0}, {.trees = kMany, .least_leaf = 100}, {0.1, 0.2, 0.3, 0.4}, {1, 2, 3, 6});
  CHECK(mean_at(forest, {0.5}) == Approx(3).margin(0.08));
  CHECK(forest.predict(Numbers{0.5}).variance == Approx(3.5).margin(0.2));
}

TEST_CASE("forest: between two observations the mean is linear and trees disagree") {
  const Forest forest = fitted({0}, {.trees = kMany, .bootstrap = false}, {0.7, 0.2}, {1, 0});
  CHECK(mean_at(forest, {0}) == 0);
  CHECK(mean_at(forest, {0.2}) == 0);
  CHECK(mean_at(forest, {0.7}) == 1);
  CHECK(mean_at(forest, {1}) == 1);
  for (const double share : {0.1, 0.3, 0.5, 0.9}) {
    const auto [mean, variance] = forest.predict(Numbers{0.2 + 0.5 * share});
    CHECK(mean == Approx(share).margin(0.035));
    CHECK(variance == Approx(share * (1 - share)).margin(0.03));
  }
}

TEST_CASE("forest: a bootstrap leaves out an observation in its share of the trees") {
  // Both are drawn in half of the trees, each of them alone in a quarter.
  const Forest forest = fitted({0}, {.trees = kMany}, {0.2, 0.7}, {0, 1});
  CHECK(mean_at(forest, {0}) == Approx(0.25).margin(0.035));
  CHECK(mean_at(forest, {1}) == Approx(0.75).margin(0.035));
}

TEST_CASE("forest: the cut with the smallest squared error is chosen") {
  // Into {0, 0, 1} and {9}, not in the middle.
  const Forest forest =
      fitted({0}, {.trees = 1, .bootstrap = false}, {0.1, 0.2, 0.3, 0.4}, {0, 0, 1, 9});
  CHECK(forest.nodes() == 5);
  CHECK(mean_at(forest, {0.25}) <= 1);
  CHECK(mean_at(forest, {0.4}) == 9);
}

TEST_CASE("forest: every side of a cut has the observations that it must have") {
  Numbers rows, targets;
  for (int i = 0; i < 10; ++i) {
    rows.push_back(0.1 * i);
    targets.push_back(i == 9 ? 100 : i);
  }
  const Forest forest =
      fitted({0}, {.trees = 1, .least_leaf = 5, .bootstrap = false}, rows, targets);
  CHECK(forest.nodes() == 3);
  CHECK(mean_at(forest, {0.0}) == Approx(2));
  CHECK(mean_at(forest, {0.9}) == Approx((5 + 6 + 7 + 8 + 100) / 5.0));
}

TEST_CASE("forest: one cut divides the categories by their means") {
  const std::size_t n = 70;
  Numbers rows, targets;
  for (std::size_t c = 0; c < n - 1; ++c) {
    rows.push_back(static_cast<double>(c));
    targets.push_back(c % 3 == 0 ? 1 : 0);
  }
  const Forest forest = fitted({n}, {.trees = 200, .bootstrap = false}, rows, targets);
  CHECK(forest.nodes() == 600);
  for (std::size_t i = 0; i < rows.size(); ++i) CHECK(mean_at(forest, {rows[i]}) == targets[i]);
  // Of the category and of the inactivity that it has not seen the forest is not sure.
  CHECK(mean_at(forest, {static_cast<double>(n - 1)}) == Approx(0.5).margin(0.2));
  CHECK(mean_at(forest, {NAN}) == Approx(0.5).margin(0.2));
}

TEST_CASE("forest: inactive is a category of its own") {
  const Forest forest =
      fitted({3}, {.trees = 20, .bootstrap = false}, {0, 1, 2, NAN, NAN}, {0, 4, 0, 4, 4});
  CHECK(forest.nodes() == 60);
  CHECK(mean_at(forest, {NAN}) == 4);
  CHECK(mean_at(forest, {1}) == 4);
  CHECK(mean_at(forest, {2}) == 0);
}

TEST_CASE("forest: beside positions inactive goes where it fits") {
  const ForestSettings settings{.trees = 20, .bootstrap = false};
  for (const double inactive : {0.0, 1.0}) {
    const Forest forest =
        fitted({0}, settings, {NAN, 0.2, 0.3, 0.8, NAN}, {inactive, 0, 0, 1, inactive});
    CHECK(forest.nodes() == 60);
    CHECK(mean_at(forest, {NAN}) == inactive);
    CHECK(mean_at(forest, {0.2}) == 0);
    CHECK(mean_at(forest, {0.9}) == 1);
  }
  const Forest alone = fitted({0}, settings, {NAN, 0.2, 0.3, 0.8, NAN}, {7, 0, 0, 0, 7});
  CHECK(alone.nodes() == 60);
  CHECK(mean_at(alone, {NAN}) == 7);
  CHECK(mean_at(alone, {1}) == 0);
  const Forest unseen = fitted({0}, {.trees = kMany, .bootstrap = false}, {0.2, 0.8}, {0, 1});
  CHECK(mean_at(unseen, {NAN}) == Approx(0.5).margin(0.04));
}

TEST_CASE("forest: a split sees a share of the dimensions") {
  // Only the first one matters, and there is room for one cut.
  const Numbers rows = {0, 0, 0, 1, 1, 0, 1, 1}, targets = {0, 0, 1, 1};
  const auto at = [&](double share) {
    const ForestSettings settings{
        .trees = kMany, .share = share, .least_leaf = 2, .bootstrap = false};
    return mean_at(fitted({0, 2}, settings, rows, targets), {1, 1});
  };
  CHECK(at(1) == 1);
  CHECK(at(0.5) == Approx(0.75).margin(0.02));
  CHECK(at(0.01) == Approx(0.75).margin(0.02));
}

TEST_CASE("forest: where the chosen dimensions cannot be split others are") {
  const Forest forest = fitted({0, 4, 0}, {.trees = 50, .share = 0.01, .bootstrap = false},
                               {0.5, 1, 0.1, 0.5, 1, 0.9}, {3, 5});
  CHECK(forest.nodes() == 150);
  CHECK(mean_at(forest, {0.5, 1, 0.9}) == 5);
}

TEST_CASE("forest: nothing to split is one leaf") {
  CHECK(fitted({0}, {.trees = 2}, {0.3}, {5}).nodes() == 2);
  CHECK(fitted({0}, {.trees = 2}, {0.3, 0.6, 0.8}, {0.1, 0.1, 0.1}).nodes() == 2);
  const Forest same = fitted({0}, {.trees = 2, .bootstrap = false}, {0.3, 0.3}, {1, 3});
  CHECK(same.nodes() == 2);
  CHECK(same.predict(Numbers{0.3}).mean == 2);
  CHECK(same.predict(Numbers{0.3}).variance == 1);
  const Forest none = fitted({}, {.trees = 2, .bootstrap = false}, {}, {1, 3});
  CHECK(none.predict(Numbers{}).mean == 2);
  CHECK(none.predict_many({}).size() == 1);
}

TEST_CASE(
    "forest: many observations are reproduced without a bootstrap and approximated with one") {
  Rng rng(5);
  const auto f = [](double x, double c, double z) {
    return 3 * x * x + (c == 2 ? 1 : 0) + (z == z ? z : -0.5);
  };
  Numbers rows, targets;
  double variance = 0;
  for (int i = 0; i < 400; ++i) {
    const double x = rng.uniform(), c = static_cast<double>(rng.index(4));
    const double z = rng.index(3) == 0 ? NAN : rng.uniform();
    rows.insert(rows.end(), {x, c, z});
    targets.push_back(f(x, c, z));
    variance += std::pow(targets.back() - 1.4, 2) / 400;
  }
  const Forest exact = fitted({0, 4, 0}, {.bootstrap = false}, rows, targets);
  const auto again = exact.predict_many(rows);
  for (std::size_t i = 0; i < targets.size(); ++i) {
    CHECK(again[i].mean == Approx(targets[i]).margin(1e-12));
    CHECK(again[i].variance == Approx(0).margin(1e-12));
  }
  const Forest forest = fitted({0, 4, 0}, {}, rows, targets);
  double error = 0;
  for (int i = 0; i < 400; ++i) {
    const Numbers row = {rng.uniform(), static_cast<double>(rng.index(4)),
                         rng.index(3) == 0 ? NAN : rng.uniform()};
    error += std::pow(mean_at(forest, row) - f(row[0], row[1], row[2]), 2) / 400;
  }
  CHECK(error < 0.05 * variance);
}

TEST_CASE("forest: the generator makes the trees and rows are predicted alike alone or together") {
  const Numbers rows = {0.1, 0.5, 0.3, 0.9, 0.2}, targets = {3, 1, 2, 5, 4};
  const Forest a = fitted({0}, {}, rows, targets), b = fitted({0}, {}, rows, targets);
  const Forest other = fitted({0}, {}, rows, targets, 2);
  Numbers from_a, from_other;
  const auto together = b.predict_many(rows);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    from_a.push_back(mean_at(a, {rows[i]}));
    from_other.push_back(mean_at(other, {rows[i]}));
    CHECK(together[i].mean == from_a[i]);
  }
  CHECK(from_a != from_other);
}

TEST_CASE("forest: fitting again forgets") {
  Forest forest({0}, {.bootstrap = false});
  Rng rng(1);
  CHECK(forest.empty());
  forest.fit(Numbers{0.1, 0.9}, Numbers{5, 7}, rng);
  forest.fit(Numbers{0.1, 0.9}, Numbers{1, 2}, rng);
  CHECK(mean_at(forest, {0.1}) == 1);
  CHECK(forest.nodes() == 30);
}

}  // namespace attune::forest_test
