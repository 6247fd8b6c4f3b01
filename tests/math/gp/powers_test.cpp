#include "math/gp/powers.h"

#include <catch2/catch.hpp>
#include <cmath>

#include "base/rng.h"
#include "math/gp/straighten.h"

namespace attune::powers_test {

using Numbers = std::vector<double>;

struct Results {
  Numbers rows, losses;
};

// Losses of a smooth function of two positions, whose least value is 0, at random places.
template <class Function>
Results drawn(std::size_t n, Function&& function) {
  Rng rng(3);
  Results results;
  for (std::size_t i = 0; i < n; ++i) {
    const double x = rng.uniform(), y = rng.uniform();
    results.rows.insert(results.rows.end(), {x, y});
    results.losses.push_back(function(std::pow(x - 0.3, 2) + std::pow(y - 0.6, 2)));
  }
  return results;
}

double chosen(const Results& results) {
  return likeliest_power(GaussianProcess({0, 0}), results.rows, results.losses, 20);
}

TEST_CASE("powers: losses are raised to it, or their logarithm is taken") {
  const Numbers losses = {1e-8, 1, 16};
  CHECK(to_power(losses, 1) == losses);
  CHECK(to_power(losses, 0.5) == Numbers{1e-4, 1, 4});
  CHECK(to_power(losses, 0.25) == Numbers{1e-2, 1, 2});
  CHECK(to_power(losses, 0) == Numbers{std::log(1e-8), 0, std::log(16)});
  CHECK(to_power(Numbers{-1, 0}, 1) == Numbers{-1, 0});
}

TEST_CASE("powers: the one that makes a smooth function of the losses is chosen") {
  CHECK(chosen(drawn(30, [](double s) { return s + 0.01; })) == 1);
  CHECK(chosen(drawn(30, [](double s) { return std::pow(s + 0.01, 3); })) == 0.25);
  CHECK(chosen(drawn(30, [](double s) { return std::pow(s + 0.01, 4); })) == 0.25);
  CHECK(chosen(drawn(30, [](double s) { return std::exp(30 * s); })) == 0);
}

TEST_CASE("powers: without a fit, the parameters of the model decide") {
  const auto chosen_by = [](const Results& results, double power) {
    GaussianProcess model({0, 0});
    model.assign(results.rows, model.initial_parameters());
    model.set_targets(standardisation(to_power(results.losses, power), 1e300).targets);
    model.fit(40);
    return likeliest_power(model, results.rows, results.losses, 0);
  };
  const Results straight = drawn(30, [](double s) { return s + 0.01; });
  const Results bent = drawn(30, [](double s) { return std::exp(30 * s); });
  CHECK(chosen_by(straight, 1) == 1);
  CHECK(chosen_by(bent, 1) != 1);
  CHECK(chosen_by(bent, 0.25) == 0);
  CHECK(chosen_by(bent, 0) == 0);
}

TEST_CASE("powers: the unit of the losses changes nothing") {
  for (const double unit : {1e-200, 1e-9, 1e9, 1e200}) {
    CAPTURE(unit);
    CHECK(chosen(drawn(30, [=](double s) { return unit * s + 0.01 * unit; })) == 1);
    CHECK(chosen(drawn(30, [=](double s) { return unit * std::exp(30 * s); })) == 0);
  }
}

TEST_CASE("powers: none where a logarithm says nothing") {
  CHECK(chosen(drawn(4, [](double s) { return std::exp(30 * s); })) == 1);
  CHECK(chosen(drawn(30, [](double s) { return std::exp(30 * s) - 1e9; })) == 1);  // negative
  CHECK(chosen(drawn(30, [](double s) { return std::exp(30 * s) + 1e30; })) == 1);
  CHECK(chosen(drawn(30, [](double) { return 5.0; })) == 1);
  CHECK(chosen(drawn(30, [](double s) { return s < 0.1 ? 0.0 : s; })) == 1);
}

TEST_CASE("powers: a diverged trial is no reason for a logarithm") {
  Results results = drawn(30, [](double s) { return s + 1; });
  results.losses[7] = 1e30;
  CHECK(chosen(results) == 1);
}

}  // namespace attune::powers_test
