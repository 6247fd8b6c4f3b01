// A curve model of several objectives and limits.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>

#include "base/rng.h"
#include "base/saved_numbers.h"
#include "space/parse.h"
#include "tuners/parts/curve_model.h"

namespace attune::curve_model_objectives_test {

using Numbers = std::vector<double>;
const Numbers kLevels = {1, 3, 9};
constexpr CurveShape kBoth = {.objectives = 2, .limits = 1};

const Features& features() {
  static const Features all(
      parse_space(parse_json(R"({"x": {"_type": "uniform", "_value": [0, 1]}})").value()).value());
  return all;
}

// The first objective is best at 0.2, the second at 0.8; the limit is kept up to 0.6.
Numbers result_at(double x, std::size_t level, const CurveShape& shape) {
  const double early = 2 - static_cast<double>(level);
  Numbers result = {std::abs(x - 0.2) + early, 100 * std::abs(x - 0.8)};
  result.resize(shape.objectives);
  if (shape.limits > 0) result.push_back(x - 0.6);
  return result;
}

void happen(CurveModel& model, const CurveShape& shape, Rng& rng) {
  if (model.size() == 0 || rng.index(3) == 0) model.add(Numbers{rng.uniform()});
  const std::size_t number = rng.index(model.size());
  for (std::size_t level = 0; level < kLevels.size(); ++level) {
    if (!std::isnan(model.loss(number, level))) continue;
    if (rng.index(12) == 0) {
      model.observe(number, level, NAN);
    } else {
      model.observe(number, level, result_at(model.row(number)[0], level, shape));
    }
    break;
  }
}

CurveModel learnt(const CurveShape& shape, int events, std::uint64_t seed) {
  Rng rng(seed);
  CurveModel model(features(), shape, kLevels);
  for (int i = 0; i < events; ++i) happen(model, shape, rng);
  return model;
}

double mean(const CurveModel& model, double x) {
  return model.process().predict(model.at(Numbers{x}, 2)).mean;
}

TEST_CASE("curve model: the weights say which of several objectives counts") {
  CurveModel model = learnt({.objectives = 2}, 90, 1);
  const auto best_of = [&](const Numbers& weights) {
    model.update(weights);
    double best = 0;
    for (double x = 0; x <= 1; x += 0.05) {
      if (mean(model, x) < mean(model, best)) best = x;
    }
    return best;
  };
  CHECK(best_of({0.95, 0.05}) == Approx(0.2).margin(0.11));
  const double between = best_of({0.5, 0.5});
  CHECK(between > 0.3);
  CHECK(between < 0.7);
  CHECK(best_of({0.05, 0.95}) == Approx(0.8).margin(0.11));
}

TEST_CASE("curve model: configurations that break a limit are expected behind the others") {
  CurveModel model = learnt(kBoth, 90, 2);
  model.update(Numbers{0.05, 0.95});  // the best without the limit is at 0.8
  CHECK(mean(model, 0.5) < mean(model, 0.7));
  CHECK(mean(model, 0.7) < mean(model, 1));
  const auto order = model.promising(1000);
  CHECK(std::ranges::is_sorted(order));
  bool breaks = false;
  for (const auto& [end, number] : order) {
    const bool this_one = model.row(number)[0] > 0.6;
    CHECK((this_one || !breaks));
    breaks = this_one;
    CHECK(model.rough_end(number) == end);
  }
  CHECK(breaks);
  auto few = order;
  few.resize(5);
  CHECK(model.promising(5) == few);
}

TEST_CASE("curve model: hopeless is what breaks a limit where another keeps all") {
  CurveModel model(features(), kBoth, kLevels);
  for (int i = 0; i < 3; ++i) model.add(Numbers{0.5});
  CHECK_FALSE(model.is_hopeless(0));
  model.observe(0, 0, Numbers{1, 1, 0.5});
  CHECK_FALSE(model.is_hopeless(0));  // none keeps it
  model.observe(1, 1, Numbers{1, 1, -0.5});
  CHECK_FALSE(model.is_hopeless(0));  // at another level
  model.observe(1, 0, Numbers{1, 1, 0});
  CHECK(model.is_hopeless(0));
  CHECK_FALSE(model.is_hopeless(1));
  model.observe(0, 2, Numbers{1, 1, 3});
  CHECK_FALSE(model.is_hopeless(0));  // it has come further
  model.observe(2, 2, NAN);
  CHECK_FALSE(model.is_hopeless(0));
  CHECK(model.rough_result(0) == Numbers{1, 1, 3});
  CHECK(model.last_result(1) == Numbers{1, 1, -0.5});
  CHECK(model.with_levels(Numbers{1, 9}, 1).is_hopeless(0) == false);
}

TEST_CASE("curve model: the rough result maps each objective, and no limit") {
  CurveModel model(features(), kBoth, kLevels);
  for (int i = 0; i < 3; ++i) model.add(Numbers{0.5});
  model.observe(0, 0, Numbers{5, 1, -1});
  model.observe(0, 1, Numbers{3, 1, -2});
  model.observe(1, 0, Numbers{7, 2, -3});
  model.update(Numbers{0.5, 0.5});
  const Numbers end = model.rough_result(1).value();
  CHECK(end[0] == Approx(3 + 0.8 * 2));
  CHECK(end[1] == Approx(1 + 0.8 * 1));
  CHECK(end[2] == -3);
  CHECK_FALSE(model.rough_result(2));
}

TEST_CASE("curve model: one of a thousand results on the front is among those it is fitted to") {
  CurveModel model(features(), {.objectives = 2}, Numbers{1});
  Rng rng(3);
  for (int i = 0; i < 1000; ++i) {
    const double x = rng.uniform();
    model.observe(model.add(Numbers{x}), 0, Numbers{x + 0.1, 1.1 - x});
  }
  // It is the best for hardly any weights.
  const std::size_t odd = model.add(Numbers{0.5});
  model.observe(odd, 0, Numbers{0.5, 0.5});
  model.update(Numbers{0.99, 0.01});
  CHECK(model.process().size() == CurveModel::kMostRows);
  model.update(Numbers{0.5, 0.5});
  CHECK(model.promising(1)[0].second == odd);
}

TEST_CASE("curve model: with several objectives a restored one goes on with the same bits") {
  for (const CurveShape known : {CurveShape{2, 0}, CurveShape{1, 1}, kBoth}) {
    Rng rng(4);
    CurveModel model(features(), known, kLevels);
    const auto weights = [&](Rng& from) {
      const double one = from.uniform();
      return known.objectives == 1 ? Numbers() : Numbers{one, 1 - one};
    };
    for (int i = 0; i < 120; ++i) {
      CAPTURE(i);
      happen(model, known, rng);
      if (model.usable() > 0 && rng.index(3) == 0) model.update(weights(rng));
      if (rng.index(4) > 0) continue;
      CurveModel copy(features(), known, kLevels);
      std::vector<Numbers> rows;
      for (std::size_t k = 0; k < model.size(); ++k) rows.push_back(model.row(k));
      REQUIRE(copy.load(parse_json(dump_json(model.save())).value(), rows));
      REQUIRE(dump_json(copy.save()) == dump_json(model.save()));
      CurveModel same = model;
      Rng later = rng;
      for (CurveModel* one : {&copy, &same}) {
        later = rng;
        for (int k = 0; k < 5; ++k) happen(*one, known, later);
        if (one->usable() > 0) one->update(weights(later));
      }
      REQUIRE(copy.promising(50) == same.promising(50));
      if (same.usable() > 0) REQUIRE(mean(copy, 0.3) == mean(same, 0.3));
      REQUIRE(dump_json(copy.save()) == dump_json(same.save()));
      for (std::size_t k = 0; k < same.size(); ++k) {
        REQUIRE(copy.rough_result(k) == same.rough_result(k));
        REQUIRE(copy.is_hopeless(k) == same.is_hopeless(k));
      }
    }
  }
}

TEST_CASE("curve model: of several objectives damaged results are errors") {
  CurveModel model = learnt(kBoth, 40, 5);
  model.update(Numbers{0.5, 0.5});
  const json good = model.save();
  std::vector<Numbers> rows;
  for (std::size_t k = 0; k < model.size(); ++k) rows.push_back(model.row(k));
  Numbers losses = numbers_at(good, "losses").value();
  CHECK(losses.size() == 3 * model.observations());
  const auto refuses = [&](const Numbers& other) {
    json damaged = good;
    damaged["losses"] = save_numbers(other);
    CHECK_FALSE(model.load(damaged, rows));
    CHECK(dump_json(model.save()) == dump_json(good));
  };
  for (const double odd : Numbers{NAN, -HUGE_VAL, 1e101}) {
    Numbers other = losses;
    other[4] = odd;
    refuses(other);
  }
  for (std::size_t i = 0; i < 3; ++i) {  // failed in one number
    Numbers other = losses;
    other[i] = std::isinf(losses[i]) ? 1 : HUGE_VAL;
    refuses(other);
  }
  losses.pop_back();
  refuses(losses);
  CHECK(model.load(good, rows));
}

}  // namespace attune::curve_model_objectives_test
