// The best of results that come one after the other.
#include "base/leaders.h"

#include <algorithm>
#include <catch2/catch.hpp>

#include "base/rng.h"

namespace attune::leaders_test {

using Ids = std::vector<std::int64_t>;

// By the definition.
Ids leading(const std::vector<Standing>& all) {
  Ids ids;
  for (std::size_t i = 0; i < all.size(); ++i) {
    const bool kept = all[i].violation == 0 && all[i].values.size() > 1;
    bool leads = true;
    for (std::size_t j = 0; j < all.size() && leads; ++j) {
      const bool better = all[j] < all[i] || (j < i && all[j] == all[i]);
      leads = kept ? !dominates(all[j].values, all[i].values) || all[j].violation > 0 : !better;
    }
    if (leads) ids.push_back(static_cast<std::int64_t>(i));
  }
  std::ranges::stable_sort(ids, {}, [&](std::int64_t i) { return all[static_cast<size_t>(i)]; });
  return ids;
}

TEST_CASE("leaders: of one objective the first of the best") {
  Leaders leaders;
  CHECK(leaders.empty());
  CHECK_FALSE(leaders.keep_limits());
  CHECK(leaders.offer(7, {0, {2}}).leads);
  CHECK_FALSE(leaders.offer(8, {0, {2}}).leads);
  CHECK(leaders.offer(9, {0, {1}}).overtaken == Ids{7});
  CHECK(leaders.ids() == Ids{9});
  CHECK(leaders.trade_offs() == 0);
}

TEST_CASE("leaders: the nearest until one keeps the limits") {
  Leaders leaders;
  leaders.offer(0, {3, {1, 1}});
  leaders.offer(1, {2, {9, 9}});
  leaders.offer(2, {2, {8, 10}});
  leaders.offer(3, {2, {8, 11}});
  CHECK(leaders.ids() == Ids{2});
  CHECK_FALSE(leaders.keep_limits());
  CHECK(leaders.trade_offs() == 0);
  CHECK(leaders.offer(4, {0, {50, 50}}).overtaken == Ids{2});
  CHECK_FALSE(leaders.offer(5, {0.5, {1, 1}}).leads);
  CHECK(leaders.offer(6, {0, {40, 60}}).leads);
  CHECK(leaders.ids() == Ids{6, 4});
  CHECK(leaders.keep_limits());
  CHECK(leaders.trade_offs() == 2);
  CHECK(leaders.best_id() == 6);
}

TEST_CASE("leaders: at any moment those of the definition") {
  Rng rng(5);
  for (const std::size_t objectives : {1, 2, 3, 4}) {
    for (int round = 0; round < 20; ++round) {
      Leaders leaders;
      std::vector<Standing> all;
      Ids members;
      for (std::int64_t i = 0; i < 40; ++i) {
        Standing next;
        // Few values: many are equal, in one number or in all.
        if (rng.index(20) < static_cast<std::size_t>(round)) {
          next.violation = static_cast<double>(rng.index(3));
        }
        for (std::size_t k = 0; k < objectives; ++k) {
          next.values.push_back(static_cast<double>(rng.index(6)));
        }
        all.push_back(next);
        const auto offered = leaders.offer(i, std::move(next));
        if (offered.leads) members.push_back(i);
        for (const std::int64_t gone : offered.overtaken) std::erase(members, gone);
        Ids expected = leading(all);
        REQUIRE(leaders.ids() == expected);
        std::ranges::sort(expected);
        REQUIRE(members == expected);
      }
    }
  }
}

}  // namespace attune::leaders_test
