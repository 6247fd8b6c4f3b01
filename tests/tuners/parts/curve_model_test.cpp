#include "tuners/parts/curve_model.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <limits>

#include "base/rng.h"
#include "base/saved_numbers.h"
#include "space/parse.h"

namespace attune::curve_model_test {

using Numbers = std::vector<double>;
constexpr double kFailed = std::numeric_limits<double>::infinity();
const Numbers kLevels = {1, 3, 9, 27};

const Features& features() {
  static const Features all(parse_space(parse_json(R"({"x": {"_type": "uniform", "_value": [0, 1]},
      "c": {"_type": "choice", "_value": ["a", "b", "c"]}})")
                                            .value())
                                .value());
  return all;
}

CurveModel empty() { return {features(), CurveShape{}, kLevels}; }
Numbers random_row(Rng& rng) { return {rng.uniform(), static_cast<double>(rng.index(3))}; }

// The best end at 0.3 and category 0. Early losses are higher, and half as different.
double end_of(std::span<const double> row) { return std::abs(row[0] - 0.3) + 0.2 * row[1]; }
double loss_at(std::span<const double> row, std::size_t level) {
  const double part = static_cast<double>(level) / 3;
  return end_of(row) * (0.5 + 0.5 * part) + 2 * (1 - part);
}

// One more configuration, or one more level of one. Some fail.
void happen(CurveModel& model, Rng& rng) {
  if (model.size() == 0 || rng.index(3) == 0) model.add(random_row(rng));
  const std::size_t number = rng.index(model.size());
  for (std::size_t level = 0; level < kLevels.size(); ++level) {
    if (!std::isnan(model.loss(number, level))) continue;
    const double loss = loss_at(model.row(number), level);
    model.observe(number, level, rng.index(15) == 0 ? NAN : loss);
    break;
  }
}

CurveModel learnt(int events, std::uint64_t seed, int update_every = 7) {
  Rng rng(seed);
  CurveModel model = empty();
  for (int i = 0; i < events; ++i) {
    happen(model, rng);
    if (model.usable() > 0 && i % update_every == 0) model.update();
  }
  return model;
}

// Whatever a tuner asks of it.
Numbers answers(const CurveModel& model) {
  Numbers all;
  Rng rng(5);
  for (int i = 0; i < 8; ++i) {
    const auto [mean, deviation] = model.process().predict(model.at(random_row(rng), rng.index(4)));
    all.insert(all.end(), {mean, deviation});
  }
  for (const auto& [end, number] : model.promising(30)) {
    all.insert(all.end(), {end, static_cast<double>(number)});
  }
  for (std::size_t i = 0; i < model.size(); ++i) all.push_back(model.rough_end(i).value_or(-1));
  return all;
}

std::vector<Numbers> rows_of(const CurveModel& model) {
  std::vector<Numbers> rows;
  for (std::size_t i = 0; i < model.size(); ++i) rows.push_back(model.row(i));
  return rows;
}

CurveModel restored(const CurveModel& model) {
  CurveModel other = learnt(20, 99);  // whatever it held before is gone
  const auto loaded = other.load(parse_json(dump_json(model.save())).value(), rows_of(model));
  if (!loaded) FAIL(loaded.error().message);
  CHECK(dump_json(other.save()) == dump_json(model.save()));
  return other;
}

TEST_CASE("curve model: levels lie on a logarithmic scale up to 1") {
  const CurveModel model = empty();
  CHECK(model.levels() == 4);
  CHECK(model.at(Numbers{0.5, 2}, 0) == Numbers{0.5, 2, 0, -1});
  CHECK(model.at(Numbers{0.5, 2}, 1)[2] == Approx(1.0 / 3));
  CHECK(model.at(Numbers{0.5, 2}, 3) == Numbers{0.5, 2, 1, -1});
  CHECK(CurveModel(features(), {}, Numbers{1}).at(Numbers{0.5, 2}, 0) == Numbers{0.5, 2, 1, -1});
}

TEST_CASE("curve model: the first loss at a level counts and a failure is one") {
  CurveModel model = empty();
  CHECK(model.add(Numbers{0.5, 1}) == 0);
  CHECK(model.add(Numbers{0.1, 2}) == 1);
  CHECK(std::isnan(model.loss(0, 2)));
  model.observe(0, 2, 5);
  model.observe(0, 2, 3);
  model.observe(0, 2, NAN);
  model.observe(1, 0, -kFailed);
  model.observe(1, 0, 4);
  CHECK(model.loss(0, 2) == 5);
  CHECK(model.loss(1, 0) == kFailed);
  CHECK(model.observations() == 2);
  CHECK(model.usable() == 1);
  model.observe(1, 1, 1e300);
  model.observe(1, 2, -1e300);
  CHECK(model.loss(1, 1) == 1e100);
  CHECK(model.loss(1, 2) == -1e100);
}

TEST_CASE("curve model: the rough end starts from the highest level with a loss") {
  CurveModel model = empty();
  for (int i = 0; i < 4; ++i) model.add(Numbers{0.1 * i, 0});
  CHECK_FALSE(model.rough_end(0));
  model.observe(0, 1, 5);
  model.observe(1, 1, 7);
  model.observe(0, 2, 3);  // a step from 5 to 3
  model.observe(2, 0, NAN);
  model.observe(3, 1, 6);
  model.observe(3, 2, NAN);
  model.observe(0, 0, 9);  // late
  CHECK(model.rough_end(0) == 3);
  CHECK(model.rough_end(1) == 7);  // before an update nothing is known of steps
  model.update();
  CHECK(model.rough_end(0) == 3);
  CHECK(*model.rough_end(1) == Approx(3 + 0.8 * 2));
  CHECK_FALSE(model.rough_end(2));
  CHECK(*model.rough_end(3) == Approx(3 + 0.8 * 1));
}

TEST_CASE("curve model: the most promising are those with the lowest rough ends") {
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    CurveModel model = learnt(300, seed, 50);
    model.update();
    std::vector<std::pair<double, std::size_t>> all;
    for (std::size_t i = 0; i < model.size(); ++i) {
      if (const auto end = model.rough_end(i)) all.emplace_back(*end, i);
    }
    std::ranges::sort(all);
    CHECK(model.promising(1000) == all);
    all.resize(20);
    CHECK(model.promising(20) == all);
    CHECK(model.promising(0).empty());
  }
}

TEST_CASE("curve model: it learns which configurations end well from early levels") {
  Rng rng(1);
  CurveModel model = empty();
  for (int i = 0; i < 40; ++i) {
    const std::size_t number = model.add(random_row(rng));
    for (std::size_t level = 0; level < (i % 8 == 0 ? 4u : 1u + i % 2); ++level) {
      model.observe(number, level, loss_at(model.row(number), level));
    }
  }
  model.update();
  const auto mean = [&](double x, double c) {
    return model.process().predict(model.at(Numbers{x, c}, 3)).mean;
  };
  CHECK(mean(0.3, 0) < mean(0.9, 0));
  CHECK(mean(0.3, 0) < mean(0.3, 2));
  CHECK(mean(0.3, 2) < mean(0.95, 2));
}

TEST_CASE("curve model: what is a trial's own is expected at its later levels") {
  Rng rng(8);
  CurveModel model = empty();
  std::size_t odd = 0;
  for (int i = 0; i < 30; ++i) {
    const Numbers row = {rng.uniform(), 0};
    const std::size_t number = model.add(row);
    const bool is_odd = i == 12;
    if (is_odd) odd = number;
    for (std::size_t level = 0; level < (i % 8 == 0 ? 4u : 1u); ++level) {
      // Each trial differs from its neighbours, and stays so.
      model.observe(number, level, is_odd ? -3 : std::sin(100.0 * i) + 1 / (1.0 + double(level)));
    }
  }
  model.update();
  const auto end = [&](std::size_t number) {
    return model.process().predict(model.at(number, 3)).mean;
  };
  for (std::size_t number = 0; number < model.size(); ++number) {
    if (number != odd) CHECK(end(odd) < end(number) - 0.5);
  }
}

TEST_CASE("curve model: once five trials were trained in full their numbers do not count") {
  Rng rng(9);
  CurveModel model = empty();
  const auto train = [&](std::size_t level, double loss) {
    const std::size_t number = model.add(random_row(rng));
    model.observe(number, level, loss);
    model.update();
    return model.at(number, level).back();
  };
  for (int i = 0; i < 4; ++i) CHECK(train(3, i) == i);
  CHECK(train(3, NAN) == 4);  // one that failed there tells nothing of ends
  CHECK(train(2, 7) == 5);
  CHECK(train(3, 8) == -1);
  CHECK(train(0, 9) == -1);
  CHECK(restored(model).at(1, 3).back() == -1);
}

TEST_CASE("curve model: failures count as the worst") {
  Rng rng(2);
  CurveModel model = empty();
  for (int i = 0; i < 30; ++i) {
    const Numbers row = {rng.uniform(), 0};
    const std::size_t number = model.add(row);
    model.observe(number, 0, row[0] > 0.6 ? NAN : 1 + 0.1 * rng.uniform());
  }
  model.update();
  const auto mean = [&](double x) {
    return model.process().predict(model.at(Numbers{x, 0}, 0)).mean;
  };
  CHECK(mean(0.85) > mean(0.3) + 0.5);
  // All but one have failed.
  CurveModel poor = empty();
  for (int i = 0; i < 9; ++i) poor.observe(poor.add(random_row(rng)), 0, i == 4 ? 2 : NAN);
  poor.update();
  for (const double number : answers(poor)) CHECK(std::isfinite(number));
}

TEST_CASE("curve model: losses of every size") {
  Rng rng(3);
  CurveModel model = empty();
  for (int i = 0; i < 60; ++i) {
    const std::size_t number = model.add(random_row(rng));
    for (std::size_t level = 0; level < 4; ++level) {
      const Numbers some = {1e308, -1e308, 0, 1e-300, rng.normal(), NAN};
      model.observe(number, level, some[rng.index(some.size())]);
    }
    if (model.usable() > 0) model.update();
  }
  for (const double number : answers(model)) CHECK(std::isfinite(number));
}

TEST_CASE("curve model: of very many results it holds the best and some of the others") {
  Rng rng(4);
  CurveModel model = empty();
  for (int i = 0; i < 1500; ++i) {
    const Numbers row = random_row(rng);
    model.observe(model.add(row), 0, end_of(row));
  }
  model.update();
  CHECK(model.process().size() == CurveModel::kMostRows);
  const std::size_t best = model.promising(1)[0].second;
  const double least = model.process().predict(model.at(best, 0)).deviation;
  CHECK(least < 0.2);
  // Those that come next are added until the next fit.
  for (int i = 0; i < 39; ++i) {
    const Numbers row = random_row(rng);
    model.observe(model.add(row), 0, end_of(row));
    model.update();
  }
  CHECK(model.process().size() == CurveModel::kMostRows + 39);
  model.observe(0, 1, 0.5);
  model.update();
  CHECK(model.process().size() == CurveModel::kMostRows);
}

TEST_CASE("curve model: awaited results lower the deviation until the next update") {
  CurveModel model = learnt(40, 6);
  model.update();
  const std::size_t number = model.add(Numbers{0.77, 2});
  const Numbers before = answers(model);
  const auto at = model.at(number, 2);
  const Prediction first = model.process().predict(at);
  const std::vector<CurveModel::Awaited> awaited = {{number, 2}, {number, 3}};
  model.await(awaited);
  CHECK(model.process().predict(at).deviation < first.deviation);
  CHECK(model.process().predict(at).mean == first.mean);
  model.update();
  CHECK(answers(model) == before);
}

TEST_CASE("curve model: saved and loaded at any moment it goes on with the same bits") {
  Rng rng(7);
  CurveModel model = empty();
  for (int i = 0; i < 160; ++i) {
    CAPTURE(i);
    happen(model, rng);
    if (rng.index(3) == 0 && model.usable() > 0) model.update();
    if (rng.index(9) == 0 && model.usable() > 0) {
      const std::vector<CurveModel::Awaited> awaited = {{rng.index(model.size()), 1}};
      model.update();
      model.await(awaited);
    }
    if (rng.index(3) > 0) continue;
    CurveModel copy = restored(model), same = model;
    CHECK(copy.usable() == model.usable());
    // What was told since the last update shows only after the next one.
    for (std::size_t k = 0; k < model.size(); ++k) {
      REQUIRE(copy.rough_end(k) == model.rough_end(k));
    }
    Rng later = rng;
    for (CurveModel* one : {&copy, &same}) {
      later = rng;
      for (int k = 0; k < 9; ++k) {
        happen(*one, later);
        if (k % 3 == 0 && one->usable() > 0) one->update();
      }
    }
    REQUIRE(answers(copy) == answers(same));
    REQUIRE(dump_json(copy.save()) == dump_json(same.save()));
  }
}

TEST_CASE("curve model: beyond the results that are mapped each time it is restored exactly") {
  Rng rng(8);
  CurveModel model = empty();
  for (int i = 0; i < 1700; ++i) {
    const Numbers row = random_row(rng);
    const std::size_t number = model.add(row);
    for (std::size_t level = 0; level < 3; ++level) {
      model.observe(number, level, loss_at(row, level) + 0.1 * rng.normal());
    }
  }
  model.update();  // with 5100 results
  for (int i = 0; i < 5; ++i) {
    happen(model, rng);
    model.update();
    if (i == 3) happen(model, rng);  // not taken in yet
    CurveModel copy = restored(model);
    CHECK(answers(copy) == answers(model));
    copy.update();
    CurveModel same = model;
    same.update();
    CHECK(answers(copy) == answers(same));
  }
}

TEST_CASE("curve model: damaged states are errors and change nothing") {
  CurveModel model = learnt(60, 9);
  model.update();
  Rng rng(10);
  happen(model, rng);
  const json good = model.save();
  const auto rows = rows_of(model);
  const Numbers before = answers(model);
  const auto refuses = [&](const json& state) {
    CHECK_FALSE(model.load(state, rows));
    REQUIRE(dump_json(model.save()) == dump_json(good));
    REQUIRE(answers(model) == before);
  };
  for (const auto& [key, value] : good.items()) {
    CAPTURE(key);
    json damaged = good;
    damaged.erase(key);
    refuses(damaged);
    for (const json& other : {json(), json("x"), json(-1), json(1.5), json(1'000'000)}) {
      if (key == "fits" && other == 1'000'000) continue;  // that many are possible
      damaged[key] = other;
      refuses(damaged);
    }
  }
  const auto with = [&](const char* key, const Numbers& numbers) {
    json damaged = good;
    damaged[key] = save_numbers(numbers);
    return damaged;
  };
  const auto column = [&](const char* key) { return numbers_at(good, key).value(); };
  for (const double odd : Numbers{NAN, -kFailed, 1e101, -1e200}) {
    Numbers losses = column("losses");
    losses[3] = odd;
    refuses(with("losses", losses));
  }
  for (const double odd : Numbers{-1, 0.5, NAN, 1e9, static_cast<double>(rows.size())}) {
    Numbers numbers = column("numbers"), levels = column("levels"), members = column("members");
    numbers[2] = levels[2] = members[2] = odd;
    refuses(with("numbers", numbers));
    refuses(with("levels", levels));
    refuses(with("members", members));
  }
  // The same result twice, and one too few.
  Numbers numbers = column("numbers"), levels = column("levels"), losses = column("losses");
  numbers[1] = numbers[0];
  levels[1] = levels[0];
  json twice = with("numbers", numbers);
  twice["levels"] = save_numbers(levels);
  refuses(twice);
  losses.pop_back();
  refuses(with("losses", losses));
  Numbers members = column("members");
  std::swap(members[0], members[1]);
  refuses(with("members", members));
  json later = good;
  later["known"] = later["known"].get<int>() + 100;
  refuses(later);
  CHECK_FALSE(model.load(good, std::span(rows).first(2)));
  CHECK(model.load(good, rows));
}

TEST_CASE("curve model: with other levels it keeps what it has seen") {
  CurveModel model = empty();
  const Numbers row = {0.5, 1};
  for (int i = 0; i < 3; ++i) model.add(row);
  for (std::size_t level = 0; level < 4; ++level) model.observe(0, level, 4.0 - double(level));
  model.observe(1, 2, 7);
  model.observe(2, 1, NAN);
  model.update();

  const CurveModel more = model.with_levels(Numbers{1, 3, 9, 27, 81}, 3);
  CHECK(more.levels() == 5);
  CHECK(more.row(1) == row);
  CHECK(more.loss(0, 2) == 2);
  CHECK(std::isnan(more.loss(0, 3)));
  CHECK(more.loss(0, 4) == 1);
  CHECK(more.loss(2, 1) == kFailed);
  CHECK(more.observations() == 6);

  // 9 is no level any more: what is known there counts for 3, unless 3 has been seen.
  CurveModel fewer = model.with_levels(Numbers{1, 3, 8}, 2);
  CHECK(fewer.loss(0, 1) == 3);
  CHECK(fewer.loss(0, 2) == 1);
  CHECK(fewer.loss(1, 1) == 7);
  CHECK(fewer.usable() == 4);
  fewer.update();
  CurveModel loaded(features(), {}, Numbers{1, 3, 8});
  REQUIRE(loaded.load(fewer.save(), std::vector<Numbers>(3, row)));
  CHECK(dump_json(loaded.save()) == dump_json(fewer.save()));
}

}  // namespace attune::curve_model_test
