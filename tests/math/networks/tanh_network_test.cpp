#include "math/networks/tanh_network.h"

#include <catch2/catch.hpp>
#include <cmath>

namespace attune::tanh_network_test {

using Numbers = std::vector<double>;

Numbers random_numbers(std::size_t n, Rng& rng) {
  Numbers all(n);
  for (double& x : all) x = rng.normal();
  return all;
}

TanhNetwork initialised(std::size_t inputs, std::vector<std::size_t> widths,
                        std::uint64_t seed = 1) {
  TanhNetwork network(inputs, std::move(widths));
  Rng rng(seed);
  network.initialise(rng);
  return network;
}

double loss_at(TanhNetwork network, const Numbers& parameters, const Numbers& rows,
               const Numbers& targets) {
  network.set_parameters(parameters);
  Numbers unused(parameters.size());
  return network.loss(rows, targets, unused);
}

TEST_CASE("tanh network: by hand") {
  TanhNetwork network(2, {2, 1});
  // Two units of two inputs, one unit of these, the output.
  network.set_parameters({0.1, -0.2, 0.3, 0.4, 0.5, -0.6, 0.7, 0.8, -0.9, 2, 0.25});
  const double first = std::tanh(0.1 * 1.5 + 0.3 * -0.5 + 0.5);
  const double second = std::tanh(-0.2 * 1.5 + 0.4 * -0.5 - 0.6);
  const double last = std::tanh(0.7 * first + 0.8 * second - 0.9);
  const auto basis = network.basis(Numbers{1.5, -0.5}, 1);
  REQUIRE(basis.size() == 1);
  CHECK(basis[0] == Approx(last).epsilon(1e-14));
  Numbers gradient(network.parameters().size());
  const double error = 2 * last + 0.25 - 1;
  CHECK(network.loss(Numbers{1.5, -0.5}, Numbers{1}, gradient) == Approx(0.5 * error * error));
}

TEST_CASE("tanh network: the gradient is that of the loss") {
  Rng rng(3);
  for (const auto& widths : {std::vector<std::size_t>{4}, {5, 3}, {6, 5, 4}}) {
    TanhNetwork network = initialised(3, widths);
    Numbers parameters = network.parameters();
    for (double& p : parameters) p += 0.1 * rng.normal();  // biases, too
    network.set_parameters(parameters);
    const Numbers rows = random_numbers(7 * 3, rng), targets = random_numbers(7, rng);
    Numbers gradient(parameters.size());
    network.loss(rows, targets, gradient);
    for (std::size_t i = 0; i < parameters.size(); ++i) {
      Numbers above = parameters, below = parameters;
      above[i] += 1e-5;
      below[i] -= 1e-5;
      const double difference =
          (loss_at(network, above, rows, targets) - loss_at(network, below, rows, targets)) / 2e-5;
      CAPTURE(widths.size(), i);
      CHECK(gradient[i] == Approx(difference).epsilon(1e-6).margin(1e-8));
    }
  }
}

TEST_CASE("tanh network: derivatives by the inputs") {
  Rng rng(4);
  const TanhNetwork network = initialised(3, {6, 5, 4});
  const Numbers by_basis = random_numbers(4, rng), row = random_numbers(3, rng);
  const auto value = [&](const Numbers& x) {
    const auto basis = network.basis(x, 1);
    double sum = 0;
    for (std::size_t k = 0; k < 4; ++k) sum += by_basis[k] * basis[k];
    return sum;
  };
  const auto gradient = network.pull_back(row, by_basis);
  REQUIRE(gradient.size() == 3);
  for (std::size_t i = 0; i < 3; ++i) {
    Numbers above = row, below = row;
    above[i] += 1e-5;
    below[i] -= 1e-5;
    CHECK(gradient[i] == Approx((value(above) - value(below)) / 2e-5).epsilon(1e-6).margin(1e-9));
  }
}

TEST_CASE("tanh network: first weights keep the variance of what goes through") {
  const TanhNetwork network = initialised(10, {50, 50});
  Rng rng(5);
  const auto basis = network.basis(random_numbers(2000, rng), 200);
  double square = 0;
  for (const double x : basis) square += x * x / static_cast<double>(basis.size());
  CHECK(square > 0.1);
  CHECK(square < 0.5);
  CHECK(initialised(10, {50, 50}, 2).parameters() != network.parameters());
}

TEST_CASE("tanh network: learns a function and the same again") {
  Rng rng(6);
  Numbers rows, targets;
  const auto f = [](double x, double y) { return std::sin(2 * x) * y; };
  for (int i = 0; i < 200; ++i) {
    const double x = rng.uniform(-1, 1), y = rng.uniform(-1, 1);
    rows.insert(rows.end(), {x, y});
    targets.push_back(f(x, y));
  }
  const TrainingSettings settings{.rate = 0.01, .presentations = 40000};
  TanhNetwork network = initialised(2, {20, 20});
  Numbers gradient(network.parameters().size());
  const double before = network.loss(rows, targets, gradient);
  TanhNetwork same = network;
  Rng one(7), other(7);
  network.train(rows, targets, settings, one);
  same.train(rows, targets, settings, other);
  CHECK(network.parameters() == same.parameters());
  CHECK(one == other);
  CHECK(network.loss(rows, targets, gradient) < 1e-3);
  CHECK(before > 0.05);
}

TEST_CASE("tanh network: fewer observations than a batch are one batch") {
  const Numbers rows = {-1, 0, 1}, targets = {-1, 0, 1};
  TanhNetwork network = initialised(1, {8}), same = network;
  Rng one(8), other(8);
  network.train(rows, targets, {.batch = 100, .presentations = 3000}, one);
  same.train(rows, targets, {.batch = 3, .presentations = 3000}, other);
  CHECK(network.parameters() == same.parameters());
  Numbers gradient(network.parameters().size());
  CHECK(network.loss(rows, targets, gradient) < 1e-4);
}

TEST_CASE("tanh network: saved and loaded, and not what is damaged") {
  const TanhNetwork network = initialised(3, {4, 2});
  TanhNetwork copy(3, {4, 2});
  REQUIRE(copy.load(parse_json(dump_json(network.save())).value()));
  CHECK(copy.parameters() == network.parameters());
  TanhNetwork other(3, {4, 3});
  CHECK_FALSE(other.load(network.save()));
  CHECK(other.parameters() == TanhNetwork(3, {4, 3}).parameters());
  for (const double bad : {std::nan(""), HUGE_VAL, 1e7}) {
    TanhNetwork damaged = network;
    Numbers parameters = network.parameters();
    parameters[5] = bad;
    damaged.set_parameters(parameters);
    CHECK_FALSE(copy.load(damaged.save()));
  }
  for (const json& bad : {json(), json(3), json("x"), json::array(), json::object()}) {
    CHECK_FALSE(copy.load(bad));
  }
  CHECK(copy.parameters() == network.parameters());
}

}  // namespace attune::tanh_network_test
