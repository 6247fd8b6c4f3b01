#include "rungs/stopping.h"

#include <catch2/catch.hpp>
#include <cmath>

namespace attune::stopping_test {

TEST_CASE("rungs: brackets are drawn with their probabilities") {
  const std::vector<double> probabilities = {0.6, 0.3, 0.1};
  std::vector<int> counts(3);
  Rng rng(3);
  for (int i = 0; i < 10'000; ++i) ++counts[draw_bracket(probabilities, rng)];
  CHECK(counts[0] == Approx(6000).margin(150));
  CHECK(counts[1] == Approx(3000).margin(150));
  CHECK(counts[2] == Approx(1000).margin(100));
}

TEST_CASE("rungs: a single bracket draws nothing") {
  Rng rng(3);
  CHECK(draw_bracket(std::vector{1.0}, rng) == 0);
  CHECK(rng == Rng(3));
}

TEST_CASE("rungs: losses are minimised, excesses over limits, and the worst if they ran away") {
  const std::vector<Objective> objectives = {
      {"loss"}, {"accuracy", true}, {"memory", false, 10.0}, {"speed", true, 10.0}};
  const auto losses = [&](double loss, double accuracy, double memory, double speed) {
    return losses_of(
        {0, 0, {{"speed", speed}, {"memory", memory}, {"accuracy", accuracy}, {"loss", loss}}},
        objectives);
  };
  CHECK(losses(1, 2, 13, 14) == std::vector<double>{1, -2, 3, -4});
  CHECK(losses(INFINITY, INFINITY, -INFINITY, 1) ==
        std::vector<double>{kWorstLoss, kWorstLoss, kWorstLoss, 9});
  CHECK(std::isnan(losses(NAN, 0, 0, 0)[0]));
  CHECK(losses_of({0, 0, {{"loss", 1}}}, objectives).empty());
}

TEST_CASE("rungs: a reason calls a result that is not finite so") {
  CHECK(at_cutoff(9, 0.713, 17, 20, 0.33, 0.709) ==
        "rung 9: 0.713 ranks 17 of 20; the best 33 % end at 0.709");
  for (const double value : {kWorstLoss, -kWorstLoss}) {
    const std::string text = "rung 9: a result that is not finite ranks 20 of 20; the best 33 % ";
    CHECK(at_cutoff(9, value, 20, 20, 0.33, 0.709) == text + "go on");
    CHECK(at_rank(9, value, 20, 20, 0.33) == text + "go on");
  }
}

TEST_CASE("rungs: the results of rungs go through a state, byte for byte") {
  std::vector<SortedNumbers> rungs(3);
  Rng rng(1);
  for (int i = 0; i < 2000; ++i) rungs[1].insert(std::round(10 * rng.normal()));
  rungs[2].insert(kWorstLoss);
  const json state = save_rungs(rungs);
  const auto loaded = load_rungs(state);
  REQUIRE(loaded);
  CHECK(save_rungs(*loaded) == state);
  CHECK((*loaded)[1].values() == rungs[1].values());
  CHECK_FALSE(load_rungs(json::object()));
  CHECK_FALSE(load_rungs(json::array({1})));
}

}  // namespace attune::stopping_test
