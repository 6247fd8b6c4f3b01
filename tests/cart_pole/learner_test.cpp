#include "examples/cart_pole/learner.h"

#include <catch2/catch.hpp>
#include <cmath>

#include "examples/cart_pole/alone.h"
#include "examples/cart_pole/replay.h"

namespace attune::learner_test {

using namespace cart_pole;

Segment segment_of(std::size_t length, bool fallen) {
  Segment segment;
  for (std::size_t i = 0; i <= length; ++i)
    segment.states.push_back({0.1 * static_cast<double>(i), 0, 0, 0});
  segment.actions.assign(length, 1);
  segment.fallen = fallen;
  return segment;
}

TEST_CASE("learner: what an action is worth") {
  Settings settings;
  settings.discount = 0.5;
  settings.lookahead = 3;
  Learner learner(settings, attune::Rng(1));
  // The network and its target are still the same: the value of the best action.
  const auto best = [&](const State& state) {
    const Values values = learner.network().values(state);
    return std::max(values[0], values[1]);
  };
  const Segment fallen = segment_of(5, true), open = segment_of(5, false);
  CHECK(learner.target(fallen, 4) == 1);
  CHECK(learner.target(fallen, 3) == 1.5);
  CHECK(learner.target(fallen, 2) == 1.75);
  CHECK(learner.target(fallen, 1) == Approx(1.75 + 0.125 * best(fallen.states[4])));
  CHECK(learner.target(open, 4) == Approx(1 + 0.5 * best(open.states[5])));
  CHECK(learner.target(open, 2) == Approx(1.75 + 0.125 * best(open.states[5])));
}

TEST_CASE("learner: training on one segment makes its error small") {
  Settings settings;
  settings.target_every = 1'000'000;
  Learner learner(settings, attune::Rng(1));
  const std::vector<Sample> batch = {{1, 1, std::make_shared<const Segment>(segment_of(5, true))}};
  const double before = learner.train(batch).priorities.at(0);
  for (int i = 0; i < 1000; ++i) learner.train(batch);
  CHECK(learner.train(batch).priorities.at(0) < 0.1 * before);
  CHECK(learner.steps() == 1002);
}

TEST_CASE("learner: goes on from weights of its size only") {
  Settings settings;
  Learner one(settings, attune::Rng(1)), other(settings, attune::Rng(2));
  REQUIRE(other.go_on(one.network().weights(), 70));
  const State state = {0.1, 0.2, 0.3, 0.4};
  CHECK(other.network().values(state) == one.network().values(state));
  CHECK(other.steps() == 70);
  CHECK_FALSE(other.go_on(std::vector<double>(5), 0));
}

TEST_CASE("replay: surprising segments are drawn more often and weigh less") {
  Replay replay(2, 1, 1, attune::Rng(1));
  replay.push(segment_of(1, false));
  replay.push(segment_of(2, false));
  replay.push(segment_of(3, false));  // in the place of the first
  CHECK(replay.size() == 2);
  std::vector<Sample> both = replay.sample(1000);
  const auto length = [](std::size_t wanted) {
    return [wanted](const Sample& each) { return each.segment->length() == wanted; };
  };
  CHECK(std::ranges::count_if(both, length(1)) == 0);
  CHECK(std::ranges::count_if(both, length(3)) == Approx(500).margin(80));
  const Sample two = *std::ranges::find_if(both, length(2));
  const Sample three = *std::ranges::find_if(both, length(3));
  replay.update(std::vector{two, three}, std::vector<double>{3, 1});
  both = replay.sample(1000);
  CHECK(std::ranges::count_if(both, length(2)) == Approx(750).margin(70));
  CHECK(std::ranges::find_if(both, length(2))->weight == Approx(1.0 / 3).epsilon(0.001));
  CHECK(std::ranges::find_if(both, length(3))->weight == 1);
}

TEST_CASE("alone: balances the pole and gives the same result each time") {
  Settings settings;
  settings.most_steps = 200;  // then it is quick
  settings.train_steps = 3000;
  double best = 0;
  Alone run(settings);
  Progress progress;
  while (!run.done()) {
    progress = run.advance();
    best = std::max(best, progress.reward);
  }
  CHECK(best >= 195);
  CHECK(progress.train_steps == 3000);
  settings.train_steps = 600;
  const auto last = [&] {
    Alone again(settings);
    CHECK(again.advance().train_steps == 500);
    const Progress end = again.advance();
    CHECK(again.done());
    return end;
  };
  const Progress one = last(), other = last();
  CHECK(one.train_steps == 600);
  CHECK(one.reward == other.reward);
  CHECK(one.loss == other.loss);
  settings.seed = 2;
  CHECK(last().loss != one.loss);
}

}  // namespace attune::learner_test
