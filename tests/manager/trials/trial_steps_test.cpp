#include "manager/trials/trial_steps.h"

#include <catch2/catch.hpp>
#include <limits>

namespace attune::trial_steps_test {

constexpr std::nullopt_t kPlain = std::nullopt;

std::optional<std::int64_t> at(double iteration) {
  return iteration_of({{"default", 0.5}, {"training_iteration", iteration}});
}

TEST_CASE("steps: a trial that says no iteration goes on behind what it had reported") {
  TrialSteps steps;
  steps.begin({});
  for (int i = 0; i < 8; ++i) CHECK(steps.next(i, kPlain) == i);
  CHECK(steps.done() == 8);
  steps.begin(steps.done());
  CHECK(steps.next(0, kPlain) == 8);
  CHECK(steps.next(1, kPlain) == 9);
}

TEST_CASE("steps: the trial's own iteration is the step, whatever was reported of it before") {
  TrialSteps steps;
  steps.begin({});
  for (int i = 0; i < 7; ++i) {
    CHECK(steps.next(i, at(i + 1)) == i);
    steps.told(i);
  }
  steps.begin(steps.done());
  // Iteration 8 is in the checkpoint, and was never reported.
  CHECK(steps.next(0, at(9)) == 8);
  CHECK(steps.untold() == 7);
  CHECK(steps.first() == 8);
  // Or the checkpoint is older than what was counted.
  steps.begin(9);
  CHECK(steps.next(0, at(5)) == 4);
}

TEST_CASE("steps: a trial that counts its results on is taken at its word") {
  TrialSteps steps;
  steps.begin(7);
  CHECK(steps.next(8, kPlain) == 8);
  CHECK(steps.next(9, kPlain) == 9);
  CHECK(steps.done() == 10);
}

TEST_CASE("steps: an iteration that is no step changes nothing") {
  TrialSteps steps;
  steps.begin({});
  SECTION("of a trial that reports every tenth one") {
    for (int i = 0; i < 3; ++i) CHECK(steps.next(i, at(10 * (i + 1))) == i);
    steps.begin(steps.done());
    CHECK(steps.next(0, at(40)) == 3);
  }
  SECTION("that is no number of one") {
    const double bad = GENERATE(std::numeric_limits<double>::quiet_NaN(), 1e300, -1e300, 0.0,
                                std::numeric_limits<double>::infinity());
    CHECK_FALSE(at(bad).has_value());
    for (int i = 0; i < 3; ++i) CHECK(steps.next(i, at(bad)) == i);
    steps.begin(steps.done());
    CHECK(steps.next(0, at(bad)) == 3);
  }
  SECTION("that is far from all that is known") {
    CHECK(steps.next(0, at(1)) == 0);
    steps.begin(1);
    CHECK(steps.next(0, at(1e9)) == 1);
    steps.begin(1);
    CHECK(steps.next(1'000'000, kPlain) == 1);
  }
}

TEST_CASE("steps: work that was saved but not reported does not shift the steps") {
  TrialSteps steps;
  steps.begin({});
  SECTION("of a trial that had reported nothing at all") {
    steps.begin(0);
    CHECK(steps.next(0, at(3)) == 2);
    CHECK(steps.first() == 2);
    CHECK(steps.untold() == 0);
  }
  SECTION("of a trial that reports every tenth iteration") {
    for (int i = 0; i < 3; ++i) CHECK(steps.next(i, at(10 * (i + 1))) == i);
    steps.begin(steps.done());
    CHECK(steps.next(0, at(50)) == 4);
    CHECK(steps.next(1, at(60)) == 5);
  }
  SECTION("and numbers that only happen to be multiples are not believed") {
    CHECK(steps.next(0, at(50)) == 0);
    CHECK(steps.next(1, at(150)) == 1);
    steps.begin(steps.done());
    CHECK(steps.next(0, at(225)) == 2);
  }
}

TEST_CASE("steps: the fidelity metric is the iteration of a trial without training_iteration") {
  CHECK(iteration_of({{"epoch", 4}}, "epoch") == 4);
  CHECK(iteration_of({{"epoch", 4}, {"training_iteration", 2}}, "epoch") == 2);
  CHECK_FALSE(iteration_of({{"epoch", 4}}).has_value());
}

TEST_CASE("steps: an attempt from scratch begins anew") {
  TrialSteps steps;
  steps.begin({});
  CHECK(steps.next(0, at(1)) == 0);
  steps.told(0);
  steps.begin({});
  CHECK(steps.untold() == 0);
  CHECK(steps.done() == 0);
  CHECK(steps.next(0, at(1)) == 0);
}

}  // namespace attune::trial_steps_test
