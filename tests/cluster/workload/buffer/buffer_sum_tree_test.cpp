#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>
#include <vector>

#include "base/rng.h"
#include "cluster/workload/buffer/sum_tree.h"

namespace attune::buffer_sum_tree_test {

TEST_CASE("sum tree: finds the leaf of a mass") {
  SumTree tree;
  CHECK(tree.total() == 0);
  CHECK(std::isinf(tree.least()));
  tree.set(0, 1);
  tree.set(2, 2);  // leaf 1 has nothing
  tree.set(3, 0.5);
  CHECK(tree.total() == 3.5);
  CHECK(tree.least() == 0.5);
  CHECK(tree.find(0) == 0);
  CHECK(tree.find(0.999) == 0);
  CHECK(tree.find(1) == 2);
  CHECK(tree.find(2.999) == 2);
  CHECK(tree.find(3) == 3);
  CHECK(tree.find(99) == 3);  // rounding may go beyond the end
  tree.set(3, 0);
  CHECK(tree.find(99) == 2);
  CHECK(tree.least() == 1);
  CHECK(tree.weight(1) == 0);
  CHECK(tree.weight(1000) == 0);
}

TEST_CASE("sum tree: is a function of its leaves alone") {
  Rng rng(7);
  SumTree lived;
  std::vector<double> leaves(100, 0.0);
  for (int i = 0; i < 5000; ++i) {
    const std::size_t leaf = rng.index(leaves.size());
    const double weight = rng.index(4) == 0 ? 0 : std::pow(10.0, rng.uniform(-8, 8));
    leaves[leaf] = weight;
    lived.set(leaf, weight);
  }
  lived.set(5000, 3);  // was larger once
  lived.set(5000, 0);
  SumTree fresh;
  for (std::size_t leaf = 0; leaf < leaves.size(); ++leaf) fresh.set(leaf, leaves[leaf]);
  CHECK(fresh.total() == lived.total());
  CHECK(fresh.least() == lived.least());
  for (int i = 0; i < 1000; ++i) {
    const double mass = rng.uniform() * fresh.total();
    REQUIRE(fresh.find(mass) == lived.find(mass));
  }
}

TEST_CASE("sum tree: finds what a walk along the leaves finds") {
  Rng rng(8);
  SumTree tree;
  std::vector<double> leaves(37, 0.0);
  for (int i = 0; i < 2000; ++i) {
    const std::size_t leaf = rng.index(leaves.size());
    leaves[leaf] = static_cast<double>(rng.index(5));  // whole: sums are exact in any order
    tree.set(leaf, leaves[leaf]);
    double total = 0, least = INFINITY;
    for (const double weight : leaves) {
      total += weight;
      if (weight > 0) least = std::min(least, weight);
    }
    REQUIRE(tree.total() == total);
    REQUIRE(tree.least() == least);
    if (total == 0) continue;
    const double mass = rng.uniform() * total;
    std::size_t expected = 0;
    for (double end = leaves[0]; end <= mass; end += leaves[expected]) ++expected;
    REQUIRE(tree.find(mass) == expected);
  }
}

}  // namespace attune::buffer_sum_tree_test
