#include "tuners/parts/curve_trials.h"

#include <catch2/catch.hpp>
#include <cmath>

#include "base/saved_numbers.h"
#include "space/parse.h"

namespace attune::curve_trials_test {

using Indices = std::set<std::size_t>;
using Numbers = std::vector<double>;
using State = Curve::State;

const Space& interval() {
  static const Space space =
      parse_space(parse_json(R"({"x": {"_type": "uniform", "_value": [0, 1]}})").value()).value();
  return space;
}

CurveTrials three() {
  CurveTrials trials;
  for (TrialId trial = 10; trial < 13; ++trial) {
    CHECK(trials.add({.point = {{0.5}}, .trial = trial}) == static_cast<std::size_t>(trial - 10));
  }
  return trials;
}

TEST_CASE("curve trials: what runs and what waits") {
  CurveTrials trials = three();
  CHECK(trials.running() == Indices{0, 1, 2});
  trials.reach(1, 3, {0.5});
  trials.reach(1, 2, {0.7});  // again, from an older checkpoint
  trials.pause(1, 2);
  CHECK(trials[1].reached == 3);
  CHECK(trials[1].last == Numbers{0.5});
  CHECK(trials[1].until == 2);
  trials.end(2, 9, {0.25}, 3);
  CHECK(trials[2].last == Numbers{0.25});
  CHECK(trials.running() == Indices{0});
  CHECK(trials.waiting() == Indices{1, 2});
  CHECK_FALSE(trials[2].lives());
  trials.run(1, 3);
  trials.finish(2);
  CHECK(trials.running() == Indices{0, 1});
  CHECK(trials.waiting().empty());
  CHECK(trials.add({.point = {{0.1}}, .state = State::over}) == 3);
  CHECK(trials.running() == Indices{0, 1});
  CHECK_FALSE(trials.find(Curve::kNoTrial));
}

TEST_CASE("curve trials: another trial takes the place of one that has ended") {
  CurveTrials trials = three();
  trials.end(1, 3, {0.5}, 1);
  trials.hand_over(1, 20);
  CHECK_FALSE(trials.find(11));
  CHECK(trials.find(20) == 1);
  CHECK(trials[1].from == 11);
  CHECK(trials.release_origin(1) == 11);
  CHECK(trials.release_origin(1) == Curve::kNoTrial);
  // A trial that is added again has left its former configuration.
  CHECK(trials.add({.point = {{0.5}}, .trial = 20}) == 3);
  CHECK(trials.find(20) == 3);
  CHECK(trials[1].state == State::over);
  CHECK(trials[1].trial == Curve::kNoTrial);
  CHECK(trials.waiting().empty());
}

TEST_CASE("curve trials: saved and loaded") {
  CurveTrials trials = three();
  trials.reach(0, 2.5, {0.75});
  trials.pause(0, 1);
  trials.end(2, 3, {0.5}, 1);
  trials.hand_over(2, 30);
  trials.add({.point = {{0.25}}, .state = State::over});
  const json good = trials.save(1);
  const auto loaded = CurveTrials::load(interval(), 1, parse_json(dump_json(good)).value());
  REQUIRE(loaded);
  CHECK(dump_json(loaded->save(1)) == dump_json(good));
  CHECK(loaded->waiting() == trials.waiting());
  CHECK(loaded->running() == trials.running());
  CHECK(loaded->find(30) == 2);
  CHECK((*loaded)[0].last == Numbers{0.75});
  json before = good;
  before.erase("last");
  const auto old = CurveTrials::load(interval(), 1, before);
  REQUIRE(old);
  CHECK((*old)[0].last.empty());
  CHECK((*old)[0].reached == 2.5);
  CHECK((*loaded)[3].point == Point{{0.25}});

  const auto refuses = [&](const char* key, std::size_t at, double number) {
    CAPTURE(key, number);
    json damaged = good;
    auto column = numbers(good[key]).value();
    column.at(at) = number;
    damaged[key] = save_numbers(column);
    CHECK_FALSE(CurveTrials::load(interval(), 1, damaged));
    column.pop_back();
    damaged[key] = save_numbers(column);
    CHECK_FALSE(CurveTrials::load(interval(), 1, damaged));
    damaged.erase(key);
    CHECK_FALSE(CurveTrials::load(interval(), 1, damaged));
  };
  refuses("trials", 0, 0.5);
  refuses("trials", 0, 30);  // twice
  refuses("trials", 0, -1);  // it waits, and has no trial
  refuses("trials", 0, 1e300);
  refuses("origins", 1, NAN);
  refuses("states", 1, 4);
  refuses("reached", 1, -0.5);
  refuses("reached", 1, HUGE_VAL);
  refuses("until", 1, 1e9);
}

}  // namespace attune::curve_trials_test
