#include "tuners/parts/failure_model.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <functional>

#include "base/rng.h"
#include "space/parse.h"

namespace attune::failure_model_test {

using Numbers = std::vector<double>;

Features square() {
  const json unit = {{"_type", "uniform"}, {"_value", {0, 1}}};
  return Features(parse_space({{"x", unit}, {"y", unit}}).value());
}

// Trials at random places. `fails(x)` is the probability that one fails.
History history_of(int trials, const std::function<double(double x)>& fails) {
  History history(2);
  Rng rng(7);
  for (int k = 0; k < trials; ++k) {
    const Numbers row = {rng.uniform(), rng.uniform()};
    const bool failed = rng.uniform() < fails(row[0]);
    history.add(row, failed ? History::Kind::useless : History::Kind::usable, row[0] + row[1]);
  }
  return history;
}

// An acquisition that is 2 x everywhere.
Acquisition slope() {
  return {.values =
              [](std::span<const double> rows) {
                Numbers values;
                for (std::size_t i = 0; i < rows.size(); i += 2) values.push_back(2 * rows[i]);
                return values;
              },
          .climb =
              [](std::span<const double> row, std::span<double> gradient) {
                gradient[0] = 2;
                gradient[1] = 0;
                return 2 * row[0];
              }};
}

// The logarithm of the probability that a trial at (x, 0.5) ends with a result.
double log_success(const FailureModel& model, double x) {
  return model.weighed(slope()).values(Numbers{x, 0.5}).front() - 2 * x;
}

TEST_CASE("failure model: a part of the space that fails is shunned") {
  FailureModel model(square());
  model.update(history_of(60, [](double x) { return x > 0.7 ? 1.0 : 0.0; }));
  REQUIRE(model.knows_failures());
  CHECK(std::exp(log_success(model, 0.2)) > 0.9);
  CHECK(std::exp(log_success(model, 0.95)) < 0.1);
}

TEST_CASE("failure model: failures by accident change little from place to place") {
  FailureModel model(square());
  model.update(history_of(100, [](double) { return 0.3; }));
  for (const double x : {0.1, 0.3, 0.5, 0.7, 0.9}) {
    CHECK(std::exp(log_success(model, x)) == Approx(0.7).margin(0.2));
  }
}

TEST_CASE("failure model: without failures the acquisition stays as it is") {
  FailureModel model(square());
  model.update(history_of(20, [](double) { return 0.0; }));
  CHECK_FALSE(model.knows_failures());
  CHECK(log_success(model, 0.4) == 0);
  History all_failed = history_of(5, [](double) { return 1.0; });
  model.update(all_failed);
  CHECK_FALSE(model.knows_failures());
}

TEST_CASE("failure model: the gradient is that of the value") {
  FailureModel model(square());
  model.update(history_of(60, [](double x) { return x > 0.7 ? 1.0 : 0.1; }));
  const Acquisition weighed = model.weighed(slope());
  for (const double x : {0.3, 0.65, 0.8}) {
    Numbers row = {x, 0.4}, gradient(2);
    const double value = weighed.climb(row, gradient);
    CHECK(value == Approx(weighed.values(row).front()));
    for (std::size_t i = 0; i < 2; ++i) {
      constexpr double kStep = 1e-5;
      Numbers up = row, down = row;
      up[i] += kStep;
      down[i] -= kStep;
      const double difference =
          (weighed.values(up).front() - weighed.values(down).front()) / (2 * kStep);
      CHECK(gradient[i] == Approx(difference).epsilon(1e-3).margin(1e-4));
    }
  }
}

TEST_CASE("failure model: saved and loaded after any number of results it has the same bits") {
  const History all = history_of(70, [](double x) { return x > 0.8 ? 0.9 : 0.1; });
  History history(2);
  FailureModel model(square());
  for (std::size_t i = 0; i < all.size(); ++i) {
    history.add(all.row(i), all.kind(i), all.loss(i));
    model.update(history);
    FailureModel loaded(square());
    loaded.load(model.save(), history).value();
    REQUIRE(loaded.knows_failures() == model.knows_failures());
    REQUIRE(log_success(loaded, 0.77) == log_success(model, 0.77));
    if (i % 2 == 0) model = loaded;
  }
}

}  // namespace attune::failure_model_test
