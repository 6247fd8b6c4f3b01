#include "examples/cart_pole/network.h"

#include <catch2/catch.hpp>
#include <cmath>

namespace attune::network_test {

using namespace cart_pole;

TEST_CASE("network: the gradient is that of finite differences") {
  attune::Rng rng(3);
  Network network(7, rng);                                                // no multiple of four
  for (double& weight : network.weights()) weight += 0.1 * rng.normal();  // biases, too
  const State state = {0.3, -0.5, 0.1, 0.7};
  const Values slopes = {0.7, -1.3};
  const auto sum = [&] {
    const Values values = network.values(state);
    return slopes[0] * values[0] + slopes[1] * values[1];
  };
  std::vector<double> gradient(network.weights().size(), 1.0);  // it adds
  network.values(state);
  network.add_gradient(slopes, gradient);
  REQUIRE(gradient.size() == 5 * 7 + 8 * 7 + 8 * 2);
  std::size_t moved = 0;
  for (std::size_t i = 0; i < gradient.size(); ++i) {
    constexpr double kStep = 1e-6;
    double& weight = network.weights()[i];
    const double before = weight;
    weight = before + kStep;
    const double above = sum();
    weight = before - kStep;
    const double below = sum();
    weight = before;
    CHECK(gradient[i] - 1 == Approx((above - below) / (2 * kStep)).margin(1e-7));
    moved += gradient[i] != 1;
  }
  CHECK(moved > gradient.size() / 3);
}

TEST_CASE("network: the same seed gives the same values and others do not") {
  attune::Rng one(1), same(1), other(2);
  const State state = {0.1, 0.2, 0.3, 0.4};
  const Values values = Network(16, one).values(state);
  CHECK(Network(16, same).values(state) == values);
  CHECK(Network(16, other).values(state) != values);
}

TEST_CASE("network: Adam moves each weight by its rate in the first step") {
  Adam adam(3);
  std::vector<double> weights = {1, 1, 1};
  adam.step(weights, std::vector<double>{5, -0.01, 0}, 0.1);
  CHECK(weights[0] == Approx(0.9));
  CHECK(weights[1] == Approx(1.1));
  CHECK(weights[2] == 1);
}

TEST_CASE("network: Adam finds the lowest point of a parabola") {
  Adam adam(1);
  std::vector<double> x = {4};
  for (int i = 0; i < 2000; ++i) adam.step(x, std::vector<double>{2 * (x[0] - 1)}, 0.02);
  CHECK(x[0] == Approx(1).margin(1e-3));
}

}  // namespace attune::network_test
