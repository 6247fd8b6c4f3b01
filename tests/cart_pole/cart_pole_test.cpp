#include "examples/cart_pole/cart_pole.h"

#include <catch2/catch.hpp>
#include <cmath>

namespace attune::cart_pole_test {

using namespace cart_pole;

TEST_CASE("cart pole: one step from rest is what the equations give by hand") {
  // force 10: pushed = 10 / 1.1; angular = -pushed / (0.5 (4/3 - 0.1 / 1.1)); linear = pushed -
  // 0.05 angular / 1.1. Positions move by the velocity of before, which is 0.
  const State next = step({0, 0, 0, 0}, 1);
  const double pushed = 10 / 1.1, angular = -pushed / (0.5 * (4.0 / 3 - 0.1 / 1.1));
  CHECK(next[0] == 0);
  CHECK(next[1] == Approx(0.02 * (pushed - 0.05 * angular / 1.1)));
  CHECK(next[2] == 0);
  CHECK(next[3] == Approx(0.02 * angular));
}

TEST_CASE("cart pole: left and right are mirror images") {
  State one = {0.1, -0.2, 0.03, 0.4}, other = {-0.1, 0.2, -0.03, -0.4};
  for (std::size_t i = 0; i < 30; ++i) {
    one = step(one, i % 3 == 0);
    other = step(other, i % 3 != 0);
    for (std::size_t k = 0; k < 4; ++k) CHECK(one[k] == Approx(-other[k]));
  }
}

// Of the exact motion: with no force the pendulum on a free cart keeps its energy and momentum; the
// method of Euler does so up to the first order of the step.
TEST_CASE("cart pole: what the force does not do is free motion") {
  const State state = {0, 0.3, 0.05, -0.5};
  const State left = step(state, 0), right = step(state, 1);
  const double v = (left[1] + right[1]) / 2, w = (left[3] + right[3]) / 2;  // as with no force
  const auto momentum = [](double velocity, double angle, double angular) {
    return 1.1 * velocity + 0.1 * 0.5 * angular * std::cos(angle);
  };
  CHECK(momentum(v, state[2] + 0.02 * state[3], w) ==
        Approx(momentum(state[1], state[2], state[3])).margin(1e-4));
}

TEST_CASE("cart pole: when it has fallen") {
  CHECK_FALSE(has_fallen({2.4, 9, 0.2094, 9}));
  CHECK(has_fallen({2.41, 0, 0, 0}));
  CHECK(has_fallen({-2.41, 0, 0, 0}));
  CHECK(has_fallen({0, 0, 0.21, 0}));
  CHECK(has_fallen({0, 0, -0.21, 0}));
}

TEST_CASE("cart pole: pushed to one side only it falls within ten steps or so") {
  attune::Rng rng(1);
  State state = first_state(rng);
  for (const double each : state) CHECK(std::abs(each) <= 0.05);
  int steps = 0;
  while (!has_fallen(state)) {
    state = step(state, 1);
    ++steps;
  }
  CHECK(steps > 6);
  CHECK(steps < 13);
}

}  // namespace attune::cart_pole_test
