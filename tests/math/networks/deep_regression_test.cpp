// DeepRegression and the inputs of its network.
#include "math/networks/deep_regression.h"

#include <catch2/catch.hpp>
#include <cmath>

#include "base/saved_numbers.h"

namespace attune::deep_regression_test {

using Numbers = std::vector<double>;

struct Observations {
  Numbers rows, targets;
};

// A position, a category of three, a position that is active in category 1 only.
const std::vector<OneHot::Dimension> kDimensions = {{0, false}, {3, false}, {0, true}};

double truth(double x, double c, double z) {
  return 2 * std::sin(5 * x) + (c == 1 ? 0.5 + 2 * (z - 0.3) * (z - 0.3) : c == 2 ? -0.5 : 0) - 0.5;
}

Observations observations(int count, std::uint64_t seed) {
  Rng rng(seed);
  Observations all;
  for (int i = 0; i < count; ++i) {
    const double x = rng.uniform(), c = static_cast<double>(rng.index(3));
    const double z = c == 1 ? rng.uniform() : NAN;
    all.rows.insert(all.rows.end(), {x, c, z});
    all.targets.push_back(truth(x, c, z));
  }
  return all;
}

DeepRegression trained(const Observations& all, std::size_t presentations = 20000) {
  DeepRegression model(kDimensions);
  Rng rng(1);
  model.train(all.rows, all.targets, presentations, rng);
  model.fit(all.rows, all.targets);
  return model;
}

TEST_CASE("one hot: positions are scaled, categories are inputs of their own, inactive is zero") {
  const OneHot inputs({{0, false}, {0, true}, {2, false}, {3, true}, {0, false}});
  CHECK(inputs.dimensions() == 5);
  REQUIRE(inputs.inputs() == 1 + 2 + 1 + 3 + 1);
  const double end = std::sqrt(12) / 2;
  CHECK(inputs.encode(Numbers{0, 1, 0, 2, 0.5, 1, NAN, 1, NAN, NAN}, 2) ==
        Numbers{-end, end, 1, -1, 0, 0, 1, 0,  //
                end, 0, 0, 1, 0, 0, 0, 0});
  Numbers gradient(5);
  inputs.pull_back(Numbers{1, 2, 3, 4, 5, 6, 7, 8}, gradient);
  CHECK(gradient == Numbers{2 * end, 4 * end, 0, 0, 16 * end});
}

TEST_CASE("one hot: very many categories are two digits") {
  const OneHot inputs({{1000, false}});
  REQUIRE(inputs.inputs() == 64 + 16);
  const auto row = inputs.encode(Numbers{70}, 1);
  for (std::size_t i = 0; i < row.size(); ++i) CHECK(row[i] == (i == 6 || i == 65 ? 1 : 0));
  CHECK(OneHot({{1000000, false}}).inputs() == 128);
  const OneHot limit({{64, false}});
  CHECK(limit.inputs() == 64);
  CHECK(limit.encode(Numbers{63}, 1)[63] == 1);
}

TEST_CASE(
    "deep regression: predicts what it has not seen, and is less sure where it has not been") {
  const Observations all = observations(150, 1), fresh = observations(200, 2);
  const DeepRegression model = trained(all);
  const auto predictions = model.predict_many(fresh.rows);
  double error = 0, variance = 0;
  for (std::size_t i = 0; i < predictions.size(); ++i) {
    error += std::pow(predictions[i].mean - fresh.targets[i], 2) / 200;
    variance += std::pow(fresh.targets[i], 2) / 200;
  }
  CAPTURE(error, variance);
  CHECK(error < 0.02 * variance);
  const auto inside = model.predict_many(Numbers{0.5, 0, NAN})[0];
  const auto outside = model.predict_many(Numbers{3, 0, NAN})[0];
  CHECK(outside.deviation > 2 * inside.deviation);
}

TEST_CASE("deep regression: training goes on from where it was") {
  const Observations all = observations(60, 3);
  const auto distance = [](const DeepRegression& a, const DeepRegression& b) {
    const auto x = numbers(a.save()).value(), y = numbers(b.save()).value();
    double most = 0;
    for (std::size_t i = 0; i < x.size(); ++i) most = std::max(most, std::abs(x[i] - y[i]));
    return most;
  };
  DeepRegression model = trained(all, 2000);
  const DeepRegression before = model;
  Rng rng(4);
  model.train(all.rows, all.targets, 32, rng);  // one step
  CHECK(distance(model, before) > 1e-4);
  CHECK(distance(model, before) < 0.02);
  CHECK(distance(model, trained(all, 32)) > 0.05);
}

TEST_CASE("deep regression: the derivatives by positions are those of the prediction") {
  const DeepRegression model = trained(observations(40, 5));
  const Numbers row = {0.4, 1, 0.7};
  Numbers by_mean(3), by_deviation(3);
  const auto at = model.predict(row, by_mean, by_deviation);
  const auto alone = model.predict_many(row)[0];
  CHECK(at.mean == Approx(alone.mean).epsilon(1e-9));
  CHECK(at.deviation == Approx(alone.deviation).epsilon(1e-9));
  for (const std::size_t i : {0u, 2u}) {
    Numbers both = row;
    both.insert(both.end(), row.begin(), row.end());
    both[i] += 1e-6;
    both[3 + i] -= 1e-6;
    const auto beside = model.predict_many(both);
    CHECK(by_mean[i] == Approx((beside[0].mean - beside[1].mean) / 2e-6).epsilon(1e-4));
    CHECK(by_deviation[i] ==
          Approx((beside[0].deviation - beside[1].deviation) / 2e-6).epsilon(1e-3).margin(1e-7));
  }
  CHECK(by_mean[1] == 0);
  CHECK(by_deviation[1] == 0);
}

TEST_CASE("deep regression: rows that are confirmed lower the deviation there") {
  DeepRegression model = trained(observations(20, 6));
  const Numbers row = {0.9, 2, NAN};
  const auto before = model.predict_many(row)[0];
  model.confirm(row);
  model.confirm({});
  const auto after = model.predict_many(row)[0];
  CHECK(after.mean == before.mean);
  CHECK(after.deviation < before.deviation);
}

TEST_CASE("deep regression: saved and loaded and fitted again it is the same") {
  const Observations all = observations(40, 7);
  const DeepRegression model = trained(all, 1000);
  DeepRegression copy(kDimensions);
  CHECK_FALSE(copy.trained());
  REQUIRE(copy.load(copy.save()));
  CHECK_FALSE(copy.trained());
  REQUIRE(copy.load(parse_json(dump_json(model.save())).value()));
  CHECK(copy.trained());
  copy.fit(all.rows, all.targets);
  const Numbers row = {0.1, 1, 0.2};
  CHECK(copy.predict_many(row)[0].mean == model.predict_many(row)[0].mean);
  CHECK(copy.predict_many(row)[0].deviation == model.predict_many(row)[0].deviation);
  DeepRegression other({{0, false}});
  CHECK_FALSE(other.load(model.save()));
  CHECK_FALSE(other.trained());
  for (const json& bad : {json(), json(3), json("x"), json::array(), json::object()}) {
    CHECK_FALSE(copy.load(bad));
  }
}

}  // namespace attune::deep_regression_test
