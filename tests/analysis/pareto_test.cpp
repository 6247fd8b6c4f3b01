// The trade-offs of an experiment, and the volume that they cover as time goes by.
#include "analysis/pareto.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <limits>

#include "base/rng.h"
#include "math/hypervolume.h"

namespace attune::pareto_history_test {

using Indices = std::vector<std::size_t>;

std::vector<Standing> random_standings(std::size_t count, std::size_t objectives, Rng& rng) {
  std::vector<Standing> all;
  for (std::size_t k = 0; k < count; ++k) {
    Standing standing{.violation = rng.index(3) == 0 ? rng.uniform() : 0, .values = {}};
    for (std::size_t i = 0; i < objectives; ++i) {
      standing.values.push_back(static_cast<double>(rng.index(20)));  // also equal ones
    }
    all.push_back(standing);
  }
  return all;
}

TEST_CASE("pareto: a front, and its areas one after the other") {
  const std::vector<Standing> standings = {
      {.violation = 0, .values = {3, 1}},
      {.violation = 0, .values = {1, 3}},
      {.violation = 0, .values = {4, 4}},  // the worst: the reference
      {.violation = 1, .values = {0, 0}},  // breaks a limit
      {.violation = 0, .values = {2, 2}}};
  const ParetoHistory history = pareto_history(standings);
  CHECK(history.front == Indices{1, 4, 0});
  CHECK(history.reference == std::vector<double>{4, 4});
  REQUIRE(history.steps.size() == 5);
  const double volumes[] = {3, 5, 5, 5, 6};
  const std::size_t fronts[] = {1, 2, 2, 2, 3};
  for (std::size_t k = 0; k < 5; ++k) {
    CAPTURE(k);
    CHECK(history.steps[k].results == k + 1);
    CHECK(history.steps[k].volume == volumes[k]);
    CHECK(history.steps[k].front == fronts[k]);
  }
  const ParetoHistory below = pareto_history(standings, 200, {3, 4});
  CHECK(below.steps.back().volume == 3);  // the first one is at the edge of it
}

TEST_CASE("pareto: it is what the definition says, after any number of results") {
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    CAPTURE(seed);
    Rng rng(seed);
    const std::size_t objectives = 1 + seed % 4, count = 1 + rng.index(40);
    const std::vector<Standing> standings = random_standings(count, objectives, rng);
    const ParetoHistory history = pareto_history(standings, 1000);
    REQUIRE(history.steps.size() == count);
    std::vector<double> rows;
    for (std::size_t k = 0; k < count; ++k) {
      if (standings[k].violation == 0) {
        rows.insert(rows.end(), standings[k].values.begin(), standings[k].values.end());
      }
      const double all = rows.empty() ? 0 : hypervolume(rows, objectives, history.reference);
      CHECK(history.steps[k].volume == Approx(all));
    }
    if (objectives == 1) continue;
    Indices front;
    for (std::size_t k = 0; k < count; ++k) {
      const bool dominated = std::ranges::any_of(standings, [&](const Standing& other) {
        return other.violation == 0 && dominates(other.values, standings[k].values);
      });
      if (standings[k].violation == 0 && !dominated) front.push_back(k);
    }
    Indices found = history.front;
    std::ranges::sort(found);
    CHECK(found == front);
  }
}

TEST_CASE("pareto: few steps are some of the many") {
  Rng rng(1);
  const std::vector<Standing> standings = random_standings(1003, 2, rng);
  const ParetoHistory all = pareto_history(standings, 5000);
  for (const std::size_t most : {1, 2, 7, 1000}) {
    const ParetoHistory few = pareto_history(standings, most);
    REQUIRE(few.steps.size() == most);
    CHECK(few.steps.back().results == 1003);
    CHECK(few.front == all.front);
    std::size_t before = 0;
    for (const Coverage& step : few.steps) {
      CHECK(step.results > before);
      before = step.results;
      CHECK(step.volume == all.steps[step.results - 1].volume);
      CHECK(step.front == all.steps[step.results - 1].front);
    }
  }
}

TEST_CASE("pareto: nothing that keeps the limits, and nothing at all") {
  CHECK(pareto_history({}).steps.empty());
  CHECK(pareto_history({}).front.empty());
  const std::vector<Standing> broken(3, {.violation = 2, .values = {1, 2}});
  const ParetoHistory history = pareto_history(broken);
  CHECK(history.front.empty());
  CHECK(history.reference.empty());
  REQUIRE(history.steps.size() == 3);
  CHECK(history.steps.back().volume == 0);
  CHECK(history.steps.back().front == 0);
}

TEST_CASE("pareto: results of any magnitude") {
  const double large = std::numeric_limits<double>::max();
  const std::vector<Standing> standings = {{.violation = 0, .values = {large, -large}},
                                           {.violation = 0, .values = {-large, large}},
                                           {.violation = 0, .values = {0, 0}}};
  CHECK(pareto_history(standings).front == Indices{1, 2, 0});
}

}  // namespace attune::pareto_history_test
