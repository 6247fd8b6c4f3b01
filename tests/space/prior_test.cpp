// The density of what the user believes.
#include "space/prior.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <map>

#include "tests/space/space_helpers.h"

namespace attune::prior_test {

const std::string kNested = R"({
    "x": {"_type": "loguniform", "_value": [0.001, 1], "_prior": {"_value": 0.01, "_sure": 0.8}},
    "o": {"_type": "choice", "_prior": {"_value": "sgd"}, "_value": [
      {"_name": "adam"},
      {"_name": "sgd", "m": {"_type": "uniform", "_value": [0, 1], "_prior": {"_value": 0.9}}},
      {"_name": "lion", "m": {"_type": "uniform", "_value": [0, 1]}}]},
    "s": {"_type": "choice", "_value": [1, 2, 4, 8], "_prior": {"_value": 4, "_sure": 0.4}}})";

double density(const Priors& priors, const Features& features, const Point& point) {
  return std::exp(priors.log_density(features.encode(point)));
}

TEST_CASE("no prior, no density") {
  CHECK(Priors(space_of(R"({"x":{"_type":"uniform","_value":[0,1],"_default":0}})")).empty());
}

TEST_CASE("the density has mass one over what is declared") {
  const Space space = space_of(kNested);
  const Features features(space);
  const Priors priors(space);
  Rng rng(3);
  double sum = 0;
  constexpr int kDraws = 40000;
  for (int i = 0; i < kDraws; ++i) sum += density(priors, features, sample(space, rng));
  CHECK(sum / kDraws == Approx(1).epsilon(0.05));
}

TEST_CASE("draws have the stated probabilities") {
  const Space space = space_of(kNested);
  const Priors priors(space);
  Rng rng(4);
  constexpr int kDraws = 20000;
  std::map<double, int> options, scale;
  int near = 0;
  for (int i = 0; i < kDraws; ++i) {
    const Point point = priors.draw(rng);
    for (std::size_t k = 0; k < space.params.size(); ++k) {
      REQUIRE(point.active(k) == is_active(space, point, k));
    }
    // A tenth of the range of x is a factor of 10^0.3.
    near += std::abs(std::log10(point.values[0] / 0.01)) <= 0.3 ? 1 : 0;
    ++options[point.values[1]];
    ++scale[point.values.back()];
  }
  const auto share = [](int count) { return static_cast<double>(count) / kDraws; };
  // A tenth of the numbers are declared draws, of which a fifth are near as well.
  CHECK(share(near) == Approx(0.9 * 0.8 + 0.1 * 0.2).margin(0.015));
  CHECK(share(options[1]) == Approx(0.7).margin(0.015));
  CHECK(share(options[0]) == Approx(0.15).margin(0.015));
  CHECK(share(scale[2]) == Approx(0.4).margin(0.015));
}

TEST_CASE("a parameter of another option does not count, nor does one that is unknown") {
  const Space space = space_of(kNested);
  const Features features(space);
  const Priors priors(space);
  Point sgd{{0.01, 1, 0.9, Point::kInactive, 2}}, lion{{0.01, 2, Point::kInactive, 0.9, 2}};
  // Both options share the dimension of m; only that of sgd has a prior.
  REQUIRE(features.place(2).first == features.place(3).first);
  const double of_option = 0.7 * 3 / (0.15 * 3);
  Point away = sgd;
  away.values[2] = 0.1;
  CHECK(density(priors, features, sgd) > 3 * of_option * density(priors, features, lion));
  CHECK(density(priors, features, away) ==
        Approx(0.1 * of_option * density(priors, features, lion)).epsilon(0.01));
  std::vector<double> unknown(features.size(), Point::kInactive);
  CHECK(priors.log_density(unknown) == 0);
}

TEST_CASE("the gradient of a density is that of its differences, and is added") {
  const Space space = space_of(kNested);
  const Features features(space);
  const Priors priors(space);
  Rng rng(5);
  for (int i = 0; i < 50; ++i) {
    std::vector<double> row = features.encode(sample(space, rng));
    std::vector<double> slope(row.size(), 7);
    const double here = priors.log_density(row, slope, 2);
    for (std::size_t k = 0; k < row.size(); ++k) {
      if (features.dimensions()[k].categories > 0 || features.dimensions()[k].levels > 0) continue;
      constexpr double kStep = 1e-6;
      auto next = row;
      next[k] += kStep;
      const double difference = std::isnan(row[k]) ? 0 : (priors.log_density(next) - here) / kStep;
      CHECK(slope[k] - 7 == Approx(2 * difference).margin(1e-3).epsilon(1e-3));
    }
  }
}

TEST_CASE("the edge of a range, a declared normal and near certainty are no special cases") {
  const Space space = space_of(R"({
      "a": {"_type": "uniform", "_value": [0, 1], "_prior": {"_value": 0, "_sure": 0.999999}},
      "b": {"_type": "normal", "_value": [0, 1], "_prior": {"_value": 1e9}},
      "c": {"_type": "randint", "_value": [0, 1], "_prior": {"_value": 0}},
      "d": {"_type": "uniform", "_value": [0, 1], "_prior": {"_value": 1, "_sure": 1e-300}}})");
  const Features features(space);
  const Priors priors(space);
  Rng rng(6);
  for (int i = 0; i < 1000; ++i) {
    const Point point = priors.draw(rng);
    for (const double value : point.values) CHECK(std::isfinite(value));
    CHECK(std::isfinite(priors.log_density(features.encode(point))));
  }
}

}  // namespace attune::prior_test
