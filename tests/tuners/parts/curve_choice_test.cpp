#include "tuners/parts/curve_choice.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>

#include "space/parse.h"

namespace attune::curve_choice_test {

using Numbers = std::vector<double>;

const Space& space() {
  static const Space all = parse_space(parse_json(R"({"x": {"_type": "uniform", "_value": [0, 1]},
      "y": {"_type": "uniform", "_value": [0, 1]}})")
                                           .value())
                               .value();
  return all;
}
const Features& features() {
  static const Features all(space());
  return all;
}

// The best end at (0.3, 0.6).
CurveModel learnt(int trials = 25) {
  Rng rng(1);
  CurveModel model(features(), {}, Numbers{1, 3, 9});
  for (int i = 0; i < trials; ++i) {
    const Numbers row = {rng.uniform(), rng.uniform()};
    const double end = std::hypot(row[0] - 0.3, row[1] - 0.6);
    const std::size_t number = model.add(row);
    for (std::size_t level = 0; level <= static_cast<std::size_t>(i % 3); ++level) {
      model.observe(number, level, end + 1 / (1 + static_cast<double>(level)));
    }
  }
  model.update();
  return model;
}

CurveEnds all_ends(const CurveModel& model) {
  CurveEnds ends;
  for (std::size_t i = 0; i < model.size(); ++i) ends.emplace_back(NAN, i);
  return expected_ends_of(model, ends);
}

TEST_CASE("curve choice: expected ends are predictions at the last level, the best first") {
  const CurveModel model = learnt();
  const CurveEnds ends = all_ends(model);
  REQUIRE(ends.size() == model.size());
  CHECK(std::ranges::is_sorted(ends));
  for (const auto& [end, number] : ends) {
    CHECK(end == Approx(model.process().predict(model.at(number, 2)).mean));
  }
}

TEST_CASE("curve choice: the gain is the expected fall of the lowest end for its cost") {
  const CurveModel model = learnt(6);
  const CurveEnds ends = all_ends(model);
  std::vector<CurveOption> options;
  for (const auto& [end, number] : ends) {
    options.push_back({number, {}, 1 + number % 2, 1 + static_cast<double>(number)});
  }
  options.push_back({std::nullopt, {0.3, 0.6}, 1, 3});
  const std::vector<double> worth = gains(model, options, ends);
  REQUIRE(worth.size() == options.size());
  Rng rng(2);
  Numbers normals(400'000);
  for (double& z : normals) z = rng.normal();
  int compared = 0;
  for (std::size_t i = 0; i < worth.size(); ++i) {
    CAPTURE(i);
    const CurveOption& option = options[i];
    const auto at = [&](std::size_t level) {
      return option.number ? model.at(*option.number, level) : model.at(option.row, level);
    };
    const auto lesson = model.process().predict_lessons(at(2), at(option.until))[0];
    // The end is expected to move to this by the result; the lowest of it and of all others falls.
    const double rival = ends[i == 0 ? 1 : 0].first;
    double fall = 0;
    for (const double z : normals) {
      fall -= std::min(lesson.prediction.mean + lesson.change * z, rival);
    }
    fall = fall / static_cast<double>(normals.size()) + std::min(lesson.prediction.mean, rival);
    if (fall < 3e-4) continue;  // too rare for so few draws
    ++compared;
    CHECK(worth[i] == Approx(std::log(fall) - 0.6 * std::log(option.cost)).margin(0.1));
  }
  CHECK(compared >= 3);
}

TEST_CASE("curve choice: what teaches nothing is worth little and still comparable") {
  const CurveModel model = learnt();
  const CurveEnds ends = all_ends(model);
  std::vector<CurveOption> same(3, {ends[3].second, model.row(ends[3].second), 0, 1});
  same[1].cost = 2;
  same[2].row = {0.3, 0.6};
  same[2].until = 2;
  const std::vector<double> worth = gains(model, same, ends);
  CHECK(worth[0] - worth[1] == Approx(0.6 * std::log(2)));
  CHECK(worth[2] > worth[0]);
  for (const double one : worth) CHECK(std::isfinite(one));
  CHECK(std::isfinite(gains(model, same, {ends[0]})[0]));
}

TEST_CASE("curve choice: new configurations lie where the ends are good") {
  const CurveModel model = learnt();
  const CurveEnds ends = all_ends(model);
  Rng rng(3), again(3);
  const std::vector<Point> good = {Point{model.row(ends[0].second)}};
  const CurveSearch sought{good, ends[0].first};
  const auto found = new_curves(model, space(), features(), sought, rng);
  REQUIRE_FALSE(found.empty());
  CHECK(std::ranges::is_sorted(found, std::greater(), &Found::value));
  CHECK(std::hypot(found[0].point.values[0] - 0.3, found[0].point.values[1] - 0.6) < 0.25);
  const auto same = new_curves(model, space(), features(), sought, again);
  CHECK(same[0].point == found[0].point);
}

TEST_CASE("curve choice: doubt looks for new configurations where the model knows less") {
  const CurveModel model = learnt(8);
  const CurveEnds ends = all_ends(model);
  const auto deviation = [&](double doubt) {
    Rng rng(3);
    const auto found =
        new_curves(model, space(), features(), {.best = ends[0].first, .doubt = doubt}, rng);
    return model.process().predict(model.at(found[0].point.values, 2)).deviation;
  };
  CHECK(deviation(10) > 1.1 * deviation(1));
}

}  // namespace attune::curve_choice_test
