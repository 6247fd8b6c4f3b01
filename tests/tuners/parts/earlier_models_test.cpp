#include "tuners/parts/earlier_models.h"

#include <catch2/catch.hpp>
#include <cmath>

#include "base/rng.h"
#include "space/parse.h"
#include "space/sample.h"
#include "tuners/parts/earlier_mean.h"

namespace attune::earlier_models_test {

Space parsed(const std::string& text) { return parse_space(parse_json(text).value()).value(); }

const std::string kPlane = R"({"x": {"_type": "uniform", "_value": [0, 1]},
                               "y": {"_type": "uniform", "_value": [0, 1]}})";

// A bowl with its lowest point at (x, y), seen at `count` random points.
EarlierTask bowl(const Space& space, double x, double y, std::size_t count, std::uint64_t seed) {
  EarlierTask task{.name = "bowl", .points = {}, .losses = {}};
  Rng rng(seed);
  for (std::size_t i = 0; i < count; ++i) {
    Point point = sample(space, rng);
    task.losses.push_back(std::pow(point.values[0] - x, 2) + std::pow(point.values[1] - y, 2));
    task.points.push_back(std::move(point));
  }
  return task;
}

TEST_CASE("earlier models: normal scores depend on the order of the losses alone") {
  const std::vector<double> losses = {3, 1e9, -2, 3, 0};
  const auto scores = normal_scores(losses);
  CHECK(scores[0] == scores[3]);
  CHECK(scores[2] < scores[4]);
  CHECK(scores[4] < scores[0]);
  CHECK(scores[0] < scores[1]);
  CHECK(scores[2] == Approx(-scores[1]));
  CHECK(scores[1] == Approx(1.2815515655));  // of probability 0.9
  const std::vector<double> others = {5, 6, 1, 5, 2};
  CHECK(normal_scores(others) == scores);
  CHECK(normal_scores(std::vector<double>{7.0}) == std::vector{0.0});
}

TEST_CASE("earlier models: their means are low where the results were") {
  const Space space = parsed(kPlane);
  const Features features(space);
  const EarlierModels models(space, features, std::vector{bowl(space, 0.2, 0.7, 50, 1)});
  REQUIRE(models.size() == 1);
  const auto means = models.means(0, std::vector{0.2, 0.7, 0.9, 0.1});
  CHECK(means[0] < -1);
  CHECK(means[1] > 1);
}

TEST_CASE("earlier models: the slope is that of the mean") {
  const Space space = parsed(kPlane);
  const Features features(space);
  const EarlierModels models(space, features, std::vector{bowl(space, 0.2, 0.7, 50, 1)});
  const std::vector<double> row = {0.4, 0.3};
  std::vector<double> gradient = {10, 20};
  const double mean = models.mean(0, row, 2, gradient);
  CHECK(mean == Approx(models.means(0, row)[0]));
  for (std::size_t q = 0; q < 2; ++q) {
    std::vector<double> up = row, down = row;
    up[q] += 1e-5;
    down[q] -= 1e-5;
    const double slope = (models.means(0, up)[0] - models.means(0, down)[0]) / 2e-5;
    CHECK(gradient[q] - 10 * static_cast<double>(q + 1) == Approx(2 * slope).epsilon(1e-3));
  }
}

TEST_CASE("earlier models: a parameter that a task does not know has no influence") {
  const Space space = parsed(kPlane);
  const Features features(space);
  EarlierTask task = bowl(space, 0.2, 0.7, 30, 1);
  for (Point& point : task.points) point.values[1] = Point::kInactive;
  const EarlierModels models(space, features, std::vector{task});
  const auto means = models.means(0, std::vector{0.2, 0.0, 0.2, 1.0});
  CHECK(means[0] == means[1]);
  std::vector<double> gradient = {0, 0};
  models.mean(0, std::vector{0.5, 0.5}, 1, gradient);
  CHECK(gradient[1] == 0);
  CHECK(gradient[0] != 0);
}

TEST_CASE("earlier models: the starts cover the tasks, and are complete and feasible") {
  const Space space = parsed(kPlane);
  const Features features(space);
  EarlierTask gaps = bowl(space, 0.5, 0.5, 30, 3);
  for (Point& point : gaps.points) point.values[0] = Point::kInactive;
  const EarlierModels models(
      space, features,
      std::vector{bowl(space, 0.1, 0.1, 60, 1), bowl(space, 0.9, 0.9, 60, 2), gaps});
  const auto starts = models.starts(3);
  REQUIRE(starts.size() == 3);
  bool low = false, high = false;
  for (const Point& point : starts) {
    CHECK((point.active(0) && point.active(1)));
    low = low || std::hypot(point.values[0] - 0.1, point.values[1] - 0.1) < 0.25;
    high = high || std::hypot(point.values[0] - 0.9, point.values[1] - 0.9) < 0.25;
  }
  CHECK(low);
  CHECK(high);
  CHECK(models.starts(1000).size() <= 30);
  CHECK(models.starts(3) == starts);
}

TEST_CASE("earlier models: a gap in an option, and another option than the draw has, are filled") {
  const Space space = parsed(R"({"m": {"_type": "choice", "_value": [
      {"_name": "a", "u": {"_type": "uniform", "_value": [0, 1]}},
      {"_name": "b", "v": {"_type": "uniform", "_value": [0, 1]}}]},
      "w": {"_type": "randint", "_value": [0, 5]}})");
  const double none = Point::kInactive;
  EarlierTask task{
      .name = "t",
      .points = {{{0, 0.5, none, none}}, {{1, none, 0.25, none}}, {{none, none, none, 3}}},
      .losses = {1, 2, 3}};
  const EarlierModels models(space, Features(space), std::vector{task});
  const auto starts = models.starts(3);
  REQUIRE(starts.size() == 3);
  for (const Point& point : starts) {
    for (std::size_t i = 0; i < space.params.size(); ++i) {
      CHECK(point.active(i) == is_active(space, point, i));
    }
  }
}

TEST_CASE("earlier mean: the task that ranks the results best has the weight") {
  const Space space = parsed(kPlane);
  const Features features(space);
  const std::vector tasks = {bowl(space, 0.9, 0.2, 50, 1), bowl(space, 0.2, 0.7, 50, 2)};
  EarlierMean mean(std::make_shared<EarlierModels>(space, features, tasks));
  const EarlierTask now = bowl(space, 0.25, 0.7, 12, 3);
  std::vector<double> rows;
  for (const Point& point : now.points)
    rows.insert(rows.end(), point.values.begin(), point.values.end());
  mean.learn(rows, normal_scores(now.losses));
  const auto values = mean.values(std::vector{0.2, 0.7, 0.9, 0.2});
  CHECK(values[0] < values[1] - 1);

  EarlierMean loaded(std::make_shared<EarlierModels>(space, features, tasks));
  REQUIRE(loaded.load(parse_json(dump_json(mean.save())).value()));
  CHECK(loaded.values(rows) == mean.values(rows));

  // The opposite of what the only task says: nothing is expected of it.
  EarlierMean one(std::make_shared<EarlierModels>(space, features, std::vector{tasks[1]}));
  std::vector<double> opposite;
  for (const double each : normal_scores(now.losses)) opposite.push_back(-each);
  one.learn(rows, opposite);
  CHECK(one.is_zero());
}

TEST_CASE("earlier mean: impossible weights are refused") {
  const Space space = parsed(kPlane);
  EarlierMean mean(std::make_shared<EarlierModels>(space, Features(space),
                                                   std::vector{bowl(space, 0.9, 0.2, 5, 1)}));
  const json good = mean.save();
  CHECK(mean.load(good));
  for (const json& weights : {json("x"), json::array({1, 2, 3}), json()}) {
    json bad = good;
    bad["weights"] = weights;
    CHECK_FALSE(mean.load(bad));
  }
  CHECK_FALSE(mean.load(json::object()));
}

}  // namespace attune::earlier_models_test
