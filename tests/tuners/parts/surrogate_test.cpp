#include "tuners/parts/surrogate.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <numeric>

#include "base/rng.h"
#include "base/saved_numbers.h"
#include "space/parse.h"

namespace attune::surrogate_test {

using Numbers = std::vector<double>;
using Rows = std::vector<std::span<const double>>;
using enum History::Kind;

const Features& features() {
  static const Features all(parse_space(parse_json(R"({"x": {"_type": "uniform", "_value": [0, 1]},
      "c": {"_type": "choice", "_value": ["a", "b", "c"]}})")
                                            .value())
                                .value());
  return all;
}

Numbers random_row(Rng& rng) { return {rng.uniform(), static_cast<double>(rng.index(3))}; }

double loss(const Numbers& row) { return std::pow(row[0] - 0.3, 2) + 0.1 * row[1]; }

void learn(History& history, std::size_t count, Rng& rng) {
  for (std::size_t i = 0; i < count; ++i) {
    const Numbers row = random_row(rng);
    const std::size_t kind = history.usable() == 0 ? 9 : rng.index(10);
    history.add(row, kind == 0 ? useless : kind == 1 ? stopped : usable, loss(row));
  }
}

History learnt(std::size_t count, std::uint64_t seed) {
  Rng rng(seed);
  History history(2);
  learn(history, count, rng);
  return history;
}

Surrogate standard() { return {features(), Scale::standardised}; }

// Whatever a tuner asks of it.
Numbers answers(const Surrogate& surrogate) {
  Numbers all = {surrogate.best()};
  Rng rng(5);
  for (int i = 0; i < 10; ++i) {
    const Prediction p = surrogate.model().predict(random_row(rng));
    all.insert(all.end(), {p.mean, p.deviation});
  }
  for (const std::size_t i : surrogate.most_promising(5)) all.push_back(static_cast<double>(i));
  return all;
}

Surrogate restored(const Surrogate& surrogate, const History& history) {
  Surrogate other = standard();
  // Whatever it held before is gone.
  other.update(learnt(7, 99));
  const auto state = parse_json(dump_json(surrogate.save()));
  REQUIRE(state);
  REQUIRE(other.load(*state, history));
  CHECK(dump_json(other.save()) == dump_json(surrogate.save()));
  return other;
}

TEST_CASE("surrogate: saved and loaded after any number of results it goes on with the same bits") {
  Rng rng(1);
  History history(2);
  Surrogate one = standard(), other = restored(one, history);
  for (int k = 1; k <= 60; ++k) {
    learn(history, 1, rng);
    for (Surrogate* each : {&one, &other}) each->update(history);
    REQUIRE(answers(other) == answers(one));
    const Numbers first = random_row(rng), second = random_row(rng);
    const Rows running = {first, second};
    one.pretend(running);
    other = restored(one, history);
    if (k % 3 == 0) continue;  // the same trials run again, or not
    for (Surrogate* each : {&one, &other}) each->pretend(running);
    REQUIRE(answers(other) == answers(one));
  }
}

TEST_CASE("surrogate: more results than rows") {
  Rng rng(2);
  History history = learnt(480, 2);
  Surrogate one = standard(), other = standard();
  bool thinned = false;
  while (history.size() < 620) {
    learn(history, 11, rng);
    for (Surrogate* each : {&one, &other}) each->update(history);
    REQUIRE(answers(other) == answers(one));
    CHECK(one.model().size() <= Surrogate::kMostRows * 21 / 20 + 1);
    thinned = thinned || one.model().size() < history.size();
    other = restored(one, history);
    REQUIRE(answers(other) == answers(one));
  }
  CHECK(thinned);
  // The best are still among its rows.
  const auto promising = one.most_promising(3);
  for (const std::size_t i : promising)
    CHECK(loss({history.row(i).begin(), history.row(i).end()}) < 0.05);
}

TEST_CASE("surrogate: the expected fall is large where the optimum may be and small where not") {
  History history = learnt(40, 6);
  Surrogate surrogate = standard();
  surrogate.update(history);
  const auto best = history.row(surrogate.most_promising(1)[0]);
  const Numbers again(best.begin(), best.end());
  // Of candidates that could be the optimum: better than measuring the best once more.
  Rng rng(7);
  double most = 0, least = 1e300;
  for (int i = 0; i < 200; ++i) {
    const double fall = surrogate.expected_fall(random_row(rng));
    most = std::max(most, fall);
    least = std::min(least, fall);
  }
  CHECK(most > surrogate.expected_fall(again));
  CHECK(most > 1e-4);
  CHECK(std::abs(least) < 0.1 * most);
  // Once such a trial runs there is less to be found there.
  Numbers row = random_row(rng);
  for (int i = 0; i < 200; ++i) {
    const Numbers other = random_row(rng);
    if (surrogate.expected_fall(other) > surrogate.expected_fall(row)) row = other;
  }
  const double before = surrogate.expected_fall(row);
  const Rows running = {row};
  surrogate.pretend(running);
  CHECK(surrogate.expected_fall(row) < 0.5 * before);
}

TEST_CASE("surrogate: surprising is a result that its neighbours do not explain") {
  const auto most_surprising = [](double noise, double odd) {
    History history(2);
    Rng rng(8);
    for (int i = 0; i < 60; ++i) {
      const Numbers row = {i / 60.0, static_cast<double>(i % 2)};
      history.add(row, History::Kind::usable, row[0] + noise * rng.normal() + (i == 31 ? odd : 0));
    }
    Surrogate surrogate = standard();
    surrogate.update(history);
    return surrogate.most_surprising(history);
  };
  CHECK(most_surprising(0.05, 0.5) == std::optional<std::size_t>(31));
  CHECK_FALSE(most_surprising(0, 0).has_value());
}

TEST_CASE("surrogate: what has no result is bad and what was stopped is not good") {
  // At x 0 and 1 and of every category: 8 results, and what came of the ninth.
  const auto mean_after = [](std::optional<History::Kind> kind, double given) {
    History history(2);
    for (const double value : {1, 2, 3, 4, 5, 6, 7, 8})
      history.add(Numbers{value / 9, 0}, usable, value);
    if (kind) history.add(Numbers{0.5, 1}, *kind, given);
    Surrogate surrogate = standard();
    surrogate.update(history);
    return surrogate.model().fitted_means().back();
  };
  // Values 1..8 in deviations: the worst is 3.5 / 2.29 above the mean, 6 is 1.5 / 2.29.
  CHECK(mean_after(useless, 0) == Approx(3.5 / 2.2913).margin(0.1));
  CHECK(mean_after(stopped, 0) == Approx(1.5 / 2.2913).margin(0.1));
  CHECK(mean_after(useless, -100) == mean_after(useless, 0));
  CHECK(mean_after(stopped, 1e300) == mean_after(stopped, 0));
}

TEST_CASE("surrogate: the best is the lowest target or expectation") {
  const History history = learnt(30, 3);
  Surrogate surrogate = standard();
  surrogate.update(history);
  const double best = surrogate.best();
  std::size_t lowest = 0;
  for (std::size_t i = 0; i < 30; ++i) {
    if (history.kind(i) == usable && history.loss(i) < history.loss(lowest)) lowest = i;
  }
  CHECK(surrogate.most_promising(1)[0] == lowest);
  CHECK(surrogate.model().fitted_means()[lowest] == Approx(best).margin(0.15));
  const Numbers top = {0.3, 0}, bad = {0.95, 2};
  const double expected = surrogate.model().predict(top).mean;
  surrogate.pretend(Rows{bad});
  CHECK(surrogate.best() == best);
  CHECK(surrogate.model().size() == 31);
  const double curious = surrogate.model().predict(top).deviation;
  surrogate.pretend(Rows{bad, top});
  CHECK(surrogate.best() == Approx(std::min(best, expected)));
  CHECK(surrogate.model().size() == 32);
  CHECK(surrogate.model().predict(top).deviation < curious);
  surrogate.pretend(Rows{top});  // the first has ended
  CHECK(surrogate.model().size() == 31);
  surrogate.pretend({});
  CHECK(surrogate.model().size() == 30);
  CHECK(surrogate.best() == best);
  CHECK(surrogate.most_promising(99).size() == 30);
}

TEST_CASE("surrogate: a single result and equal ones and nothing but failures beside it") {
  for (const Scale scale : {Scale::standardised, Scale::straightened}) {
    for (const double value : {0.0, 1e300, -1e-300}) {
      History history(2);
      history.add(Numbers{0.5, NAN}, useless, 0);
      history.add(Numbers{0.2, 1}, usable, value);
      Surrogate surrogate(features(), scale);
      for (int k = 0; k < 30; ++k) {
        surrogate.update(history);
        CHECK(surrogate.best() == 0);
        CHECK(std::isfinite(surrogate.model().predict(Numbers{0.7, 0}).mean));
        history.add(Numbers{0.2, 1}, k % 3 ? usable : k % 2 ? useless : stopped, value);
      }
    }
  }
}

History over_decades(std::size_t count) {
  Rng rng(8);
  History history(2);
  for (std::size_t i = 0; i < count; ++i) {
    const Numbers row = random_row(rng);
    history.add(row, usable, std::pow(loss(row) + 1e-3, 4));
  }
  return history;
}

TEST_CASE("surrogate: losses over decades are raised to a power, and a state knows which") {
  History history = over_decades(40);
  Surrogate surrogate = standard();
  for (std::size_t n = 20; n <= 40; ++n) surrogate.update(over_decades(n));
  CHECK(surrogate.save()["power"] == 0.25);
  CHECK(answers(restored(surrogate, history)) == answers(surrogate));
  // The targets are as those of the losses without the power of the function.
  History plain(2);
  for (std::size_t i = 0; i < 40; ++i) {
    plain.add(history.row(i), usable, std::pow(history.loss(i), 0.25));
  }
  std::vector<std::size_t> all(40);
  std::iota(all.begin(), all.end(), 0);
  CHECK(surrogate.targets() == targets(plain, all, Scale::standardised));

  json former = surrogate.save();
  former.erase("power");
  Surrogate other = standard();
  REQUIRE(other.load(former, history));
  CHECK(other.save()["power"] == 1);
  for (const json& bad : {json(0.3), json(-1), json("x"), json()}) {
    json damaged = surrogate.save();
    damaged["power"] = bad;
    CHECK_FALSE(other.load(damaged, history));
  }

  history.add(Numbers{0.9, 2}, usable, -1);
  surrogate.update(history);
  CHECK(surrogate.save()["power"] == 1);
  CHECK(surrogate.best() < 0);
}

TEST_CASE("surrogate: a failure amid results is left out when the model is fitted") {
  History history(2);
  for (int i = 0; i <= 10; ++i) history.add(Numbers{0.1 * i, 0}, usable, std::abs(0.1 * i - 0.4));
  const auto fitted = [&] {
    Surrogate surrogate = standard();
    surrogate.update(history);
    return surrogate;
  };
  const Surrogate before = fitted();
  history.add(Numbers{0.41, 0}, useless, 0);
  CHECK(answers(fitted()) == answers(before));
  history.add(Numbers{0.9, 2}, useless, 0);  // in a category without results
  const std::vector<std::size_t> members = fitted().members();
  CHECK(members.size() == 12);
  CHECK(members.back() == 12);
}

TEST_CASE("surrogate: damaged states are declined and change nothing") {
  const History history = learnt(40, 4);
  Surrogate surrogate = standard();
  surrogate.update(learnt(35, 4));
  surrogate.update(history);
  const json good = surrogate.save();
  const Numbers before = answers(surrogate);
  const auto declined = [&](const json& state, const History& with) {
    CAPTURE(dump_json(state));
    CHECK_FALSE(surrogate.load(state, with));
    CHECK(answers(surrogate) == before);
  };
  const auto changed = [&](const char* key, const json& value) {
    json state = good;
    state[key] = value;
    declined(state, history);
  };
  const Numbers members = numbers_at(good, "members").value();  // without accidents
  REQUIRE(members.size() > 30);
  for (const auto& [at, value] : {std::pair<std::size_t, double>(3, members[4]),
                                  {members.size() - 1, 40.0},
                                  {0, -1.0},
                                  {5, 4.5},
                                  {5, NAN}}) {
    Numbers bad = members;
    bad[at] = value;
    changed("members", save_numbers(bad));
  }
  changed("members", save_numbers({}));
  for (const Numbers& bad :
       {Numbers{}, Numbers{0, 0, 0}, Numbers{0, 0, 0, NAN}, Numbers{0, 0, 0, 0, 0},
        Numbers{HUGE_VAL, 0, 0, 0}, Numbers{0, -1e3, 0, 0}}) {
    changed("parameters", save_numbers(bad));
  }
  for (const char* key : {"seen", "fitted_at", "fitted_rows", "fits"}) {
    for (const json& bad : {json(-1), json("x"), json(0.5), json()}) changed(key, bad);
  }
  changed("seen", 41);
  changed("seen", 39);
  changed("fitted_at", 41);
  changed("fitted_rows", 41);
  changed("fitted_rows",
          good["fitted_rows"].get<int>() - 1);  // one that came since the fit was not appended
  changed("fits", 0);
  declined(good, learnt(39, 4));
  History nothing(2);
  for (int i = 0; i < 40; ++i) nothing.add(Numbers{0.5, 0}, useless, 0);
  declined(good, nothing);
  CHECK(surrogate.load(good, history));
}

}  // namespace attune::surrogate_test
