#include "tuners/parts/bohb_brackets.h"

#include <catch2/catch.hpp>

#include "tests/tuners/bohb_world.h"

namespace attune::bohb_brackets_test {

using namespace bohb_world;

using Rounds = std::vector<std::vector<BohbRound>>;

struct Plan {
  BohbBudgets budgets;
  Rounds rounds;  // of each bracket, the largest s first
};

// Computed from the description of NNI (floor and ceil with a tolerance of 1e-6) by another
// program.
const std::vector<Plan> kPlans = {
    {{1, 3, 3}, {{{3, 1}, {1, 3}}, {{2, 3}}}},
    {{1, 9, 3}, {{{9, 1}, {3, 3}, {1, 9}}, {{5, 3}, {1, 9}}, {{3, 9}}}},
    {{1, 81, 3},
     {{{81, 1}, {27, 3}, {9, 9}, {3, 27}, {1, 81}},
      {{34, 3}, {11, 9}, {3, 27}, {1, 81}},
      {{15, 9}, {5, 27}, {1, 81}},
      {{8, 27}, {2, 81}},
      {{5, 81}}}},
    {{1, 10, 2},
     {{{8, 1}, {4, 2}, {2, 5}, {1, 10}}, {{6, 2}, {3, 5}, {1, 10}}, {{4, 5}, {2, 10}}, {{4, 10}}}},
    {{3, 100, 4}, {{{16, 6}, {4, 25}, {1, 100}}, {{6, 25}, {1, 100}}, {{3, 100}}}},
    {{5, 5, 3}, {{{1, 5}}}},
    {{1, 1000, 10},
     {{{1000, 1}, {100, 10}, {10, 100}, {1, 1000}},
      {{134, 10}, {13, 100}, {1, 1000}},
      {{20, 100}, {2, 1000}},
      {{4, 1000}}}},
    {{2, 7, 2}, {{{2, 3}, {1, 7}}, {{2, 7}}}}};

TEST_CASE("BOHB: the rounds of all brackets are those of NNI") {
  for (const auto& [budgets, rounds] : kPlans) {
    CAPTURE(budgets.least, budgets.most, budgets.eta);
    REQUIRE(static_cast<std::size_t>(bohb_first_bracket(budgets)) == rounds.size() - 1);
    for (std::size_t b = 0; b < rounds.size(); ++b) {
      const int s = static_cast<int>(rounds.size() - 1 - b);
      REQUIRE(rounds[b].size() == static_cast<std::size_t>(s) + 1);
      for (int i = 0; i <= s; ++i) CHECK(bohb_round(budgets, s, i) == rounds[b][i]);
    }
  }
}

TEST_CASE("BOHB: brackets run one after the other and begin again") {
  for (const auto& [numbers, rounds] : kPlans) {
    if (numbers.most > 100) continue;  // the same, with many more trials
    CAPTURE(numbers.most, numbers.eta);
    World world(budgets(static_cast<int>(numbers.least), static_cast<int>(numbers.most),
                        static_cast<int>(numbers.eta)));
    Rng rng(4);
    for (int cycle = 0; cycle < 2; ++cycle) {
      for (const auto& bracket : rounds) {
        for (const auto& [trials, budget] : bracket) {
          const auto ids = world.start(static_cast<int>(trials));
          for (const TrialId id : ids) CHECK(world.budget(id) == budget);
          // Nothing begins before the last one of the round has ended.
          for (const TrialId id : ids) {
            CHECK(world.waits());
            world.tell(id, rng.uniform());
          }
        }
      }
    }
  }
}

}  // namespace attune::bohb_brackets_test
