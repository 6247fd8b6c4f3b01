#include "rungs/population_ranks.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <map>

#include "base/rng.h"

namespace attune::population_ranks_test {

TEST_CASE("ranks: half of a population is the largest quantile, rounded down") {
  const auto [size, fraction, expected] =
      GENERATE(table<std::size_t, double, std::size_t>({{2, 0.25, 1},
                                                        {3, 0.5, 1},
                                                        {3, 0.25, 1},
                                                        {4, 0.5, 2},
                                                        {5, 0.25, 2},
                                                        {9, 0.25, 3},
                                                        {10, 0.2, 2},
                                                        {1, 0.5, 0}}));
  PopulationRanks ranks;
  for (std::size_t m = 0; m < size; ++m) ranks.set(m, 1);
  CAPTURE(size, fraction);
  CHECK(ranks.count(fraction) == expected);
  // Of equal ones the first is the worst.
  const auto worst = ranks.worst(expected), best = ranks.best(expected);
  for (std::size_t i = 0; i < expected; ++i) {
    CHECK(worst[i] == i);
    CHECK(best[i] == size - expected + i);
  }
}

TEST_CASE("ranks: they are those of sorting anew") {
  Rng rng(3);
  PopulationRanks ranks;
  std::map<std::size_t, double> known;
  for (int i = 0; i < 2000; ++i) {
    const std::size_t member = rng.index(40);
    if (rng.index(4) == 0) {
      ranks.erase(member);
      known.erase(member);
    } else {
      ranks.set(member, known[member] = static_cast<double>(rng.index(6)));  // ties
    }
    std::vector<std::pair<double, std::size_t>> sorted;
    for (const auto& [m, loss] : known) sorted.emplace_back(-loss, m);
    std::ranges::sort(sorted);
    const std::size_t count = ranks.count(0.25);
    REQUIRE(ranks.size() == sorted.size());
    for (std::size_t rank = 0; rank < sorted.size(); ++rank) {
      REQUIRE(ranks.rank(sorted[rank].second) == sorted.size() - rank);
      REQUIRE(ranks.is_worst(sorted[rank].second, count) == (rank < count));
      REQUIRE(ranks.is_best(sorted[rank].second, count) == (rank + count >= sorted.size()));
      if (rank < count) REQUIRE(ranks.worst(count)[rank] == sorted[rank].second);
    }
  }
}

}  // namespace attune::population_ranks_test
