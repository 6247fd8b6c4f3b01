#include "rungs/promotion_order.h"

#include <catch2/catch.hpp>
#include <set>

#include "base/rng.h"

namespace attune::promotion_order_test {

struct Entry {
  double value = 0;
  int order = 0;
  double cost = 0;

  friend bool operator<(const Entry& a, const Entry& b) {
    return a.value != b.value ? a.value < b.value : a.order < b.order;
  }
};

TEST_CASE("rungs: an order is that of a sorted list, with its ranks and sums") {
  PromotionOrder<Entry> order;
  std::vector<Entry> sorted;
  Rng rng(5);
  for (int i = 0; i < 4000; ++i) {
    if (i % 5 == 4) {
      const std::size_t at = rng.index(sorted.size());
      order.erase(sorted[at]);
      sorted.erase(sorted.begin() + static_cast<std::ptrdiff_t>(at));
      continue;
    }
    // Whole costs, whose sums are exact in any order.
    const Entry entry{static_cast<double>(rng.index(300)), i, static_cast<double>(rng.index(9))};
    const auto at = std::lower_bound(sorted.begin(), sorted.end(), entry);
    const auto rank = static_cast<std::size_t>(at - sorted.begin());
    sorted.insert(at, entry);
    REQUIRE(order.insert(entry) == rank);
    if (i % 97 != 0) continue;
    REQUIRE(order.size() == sorted.size());
    double total = 0;
    for (std::size_t k = 0; k < sorted.size(); ++k) {
      total += sorted[k].cost;
      if (k % 50 == 0) REQUIRE(order.sum_through(sorted[k]) == total);
    }
    REQUIRE(order.sum() == total);
    const std::size_t first = rng.index(sorted.size());
    const std::size_t last = first + rng.index(sorted.size() - first);
    const auto some = order.copy(first, last);
    REQUIRE(some.size() == last - first + 1);
    for (std::size_t k = first; k <= last; ++k) REQUIRE(some[k - first].order == sorted[k].order);
  }
  CHECK(order.block_sizes().size() > 4);
}

TEST_CASE("rungs: an order that is emptied can be filled again") {
  PromotionOrder<Entry> order;
  for (int round = 0; round < 2; ++round) {
    for (int i = 0; i < 1000; ++i) order.insert({1.0 / (i + 1), i, 0.5});
    CHECK(order.sum() == 500);
    for (int i = 0; i < 1000; ++i) order.erase({1.0 / (i + 1), i, 0.5});
    CHECK(order.size() == 0);
    CHECK(order.sum() == 0);
    CHECK(order.block_sizes().empty());
  }
}

TEST_CASE("rungs: a restored order has the same sums to the last bit") {
  PromotionOrder<Entry> order;
  std::vector<Entry> sorted;
  Rng rng(6);
  for (int i = 0; i < 3000; ++i) {
    sorted.push_back({rng.normal(), i, rng.uniform()});
    order.insert(sorted.back());
  }
  std::sort(sorted.begin(), sorted.end());
  const auto copy = PromotionOrder<Entry>::restore(sorted, order.block_sizes());
  CHECK(copy.sum() == order.sum());
  int differ = 0;
  double one_by_one = 0;
  for (const Entry& entry : sorted) {
    one_by_one += entry.cost;
    REQUIRE(copy.sum_through(entry) == order.sum_through(entry));
    differ += order.sum_through(entry) != one_by_one;
  }
  CHECK(differ > 0);  // so it does depend on the blocks
}

}  // namespace attune::promotion_order_test
