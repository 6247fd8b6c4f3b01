#include "rungs/reason_text.h"

#include <array>
#include <catch2/catch.hpp>
#include <cmath>

namespace attune::reason_text_test {

TEST_CASE("reasons: a result is the number that the user reported, or said not to be finite") {
  CHECK(result_text(0.125) == "0.125");
  const Objective loss{"loss", false}, accuracy{"accuracy", true};
  CHECK(result_text(loss, 0.7125) == "0.7125");
  CHECK(result_text(accuracy, -0.7125) == "0.7125");
  CHECK(result_text(accuracy, 0) == "0");
  for (const double bad : {double(NAN), HUGE_VAL, -HUGE_VAL, kWorstLoss, -kWorstLoss}) {
    CHECK(result_text(bad) == "a result that is not finite");
    CHECK(result_text(accuracy, bad) == "a result that is not finite");
  }
}

TEST_CASE("reasons: of several objectives all are said, limits are not") {
  const std::array objectives = {Objective{"loss", false}, Objective{"memory", false, 9.0},
                                 Objective{"accuracy", true}};
  CHECK(results_text(objectives, std::array{0.5, -0.75}) == "(0.5, 0.75)");
  CHECK(results_text(std::span(objectives).first(2), std::array{0.5}) == "0.5");
  CHECK(over_limits_text(7) == "a result over its limits by 7");
}

TEST_CASE("reasons: where a result stands, and what it needs") {
  CHECK(rank_text("rung", 9, "0.713", 17, 20) + kept_text(6, "0.709") ==
        "rung 9: 0.713 ranks 17 of 20; the best 6 go on, cutoff 0.709");
  CHECK(rank_text("milestone", 2.5, "3", 1, 2) + waits_text(4) ==
        "milestone 2.5: 3 ranks 1 of 2 so far and waits for 4 more");
  CHECK(used_up_text("epoch", 10, 9, "0.5") == "epoch 10 of 9: ends with 0.5");
  CHECK(not_finite_text("rung", 9, "loss") == "rung 9: \"loss\" is not finite");
}

}  // namespace attune::reason_text_test
