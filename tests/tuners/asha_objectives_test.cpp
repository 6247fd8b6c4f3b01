// ASHA and PASHA with several objectives and with limits.
#include "tests/tuners/asha_world.h"

namespace attune {
extern const TunerEntry pasha_entry;
}

namespace attune::asha_objectives_test {

const std::vector<Objective> kTwo = {{"accuracy", true}, {"size", false}};

// Rungs at 1 and 3, complete at 9.
PromotionWorld two(const TunerEntry& entry = asha_tuner_entry, int max_t = 9) {
  return {entry, {{"max_t", max_t}, {"resource_attr", "epoch"}}, kTwo};
}

TEST_CASE("ASHA: with several objectives the best trade-offs go on") {
  PromotionWorld world = two();
  for (TrialId trial = 0; trial < 5; ++trial) CHECK(world.ask(trial) == "new to 1");
  CHECK(world.report(0, 1, 0.9, {{"size", 50}}) == "pause");
  CHECK(world.reason() == "rung 1: (0.9, 50) is the first there and waits for others");
  CHECK(world.report(1, 1, 0.5, {{"size", 5}}) == "pause");
  CHECK(world.report(2, 1, 0.4, {{"size", 9}}) == "pause");
  CHECK(world.reason() == "rung 1: (0.4, 9) ranks 3 of 3 and waits; the best 33.3 % go on");
  world.restart();
  CHECK(world.report(3, 1, 0.8, {{"size", 8}}) == "pause");
  CHECK(world.report(4, 1, 0.1, {{"size", 80}}) == "pause");
  CHECK(world.ask(5) == "trial 0 to 3");
  CHECK(world.why == "rung 1: (0.9, 50) ranks 1 of 5, the best that waits: goes on to 3");
  CHECK(world.ask(6) == "trial 1 to 3");
  CHECK(world.ask(7) == "new to 1");
  CHECK(world.report(0, 9, 0.95, {{"size", 50}}) == "complete");
}

TEST_CASE("ASHA: a result without one of the objectives, or with one that is no number") {
  PromotionWorld world = two();
  for (TrialId trial = 0; trial < 6; ++trial) world.ask(trial);
  CHECK(world.report(0, 1, 0.9) == "-");
  CHECK(world.report(0, 2, 0.9, {{"size", 5}}) == "pause");
  CHECK(world.report(1, 1, 0.9, {{"size", NAN}}) == "stop");
  CHECK(world.reason() == "rung 1: one of the objectives is not finite");
  CHECK(world.report(2, 1, INFINITY, {{"size", 5}}) == "stop");
  world.tell(3, End::completed, 0.1, 1.0);  // counts as failed
  CHECK(world.ask(10) == "trial 0 to 3");
  CHECK(world.ask(11) == "new to 1");
  world.tuner->tell(std::vector{
      Outcome{4, {{0.5, 0.5}}, -0.95, {{"accuracy", 0.95}, {"size", 1}}, End::completed, 1.0}});
  CHECK(world.ask(12) == "new to 3 from 4");
}

TEST_CASE("ASHA: an import takes its place among trade-offs") {
  PromotionWorld world = two();
  const auto import = [&](double x, const Metrics& metrics) {
    world.tuner->tell(std::vector{
        Outcome{kImportedTrial, {{x, x}}, -metrics[0].second, metrics, End::imported, 1.0}});
  };
  import(0.1, {{"accuracy", 0.5}, {"size", 5}});
  import(0.2, {{"accuracy", 0.6}});
  CHECK(world.ask(0) == "new to 1");
  import(0.3, {{"accuracy", 0.6}, {"size", 4}});
  CHECK(world.ask(1) == "new to 3");
  CHECK(world.last == Point{{0.3, 0.3}});
}

TEST_CASE("ASHA: a trial that breaks a limit is stopped where another keeps all") {
  PromotionWorld world(asha_tuner_entry, {{"max_t", 9}, {"resource_attr", "epoch"}},
                       {{"loss", false}, {"size", false, 10.0}});
  for (TrialId trial = 0; trial < 6; ++trial) world.ask(trial);
  CHECK(world.report(0, 1, 0.1, {{"size", 12}}) == "pause");
  CHECK(world.report(1, 1, 0.1, {{"size", 11}}) == "pause");
  CHECK(world.ask(10) == "trial 1 to 3");  // the least is broken
  CHECK(world.report(2, 1, 0.9, {{"size", 9}}) == "pause");
  CHECK(world.report(3, 1, 0.1, {{"size", 12.5}}) == "stop");
  CHECK(world.reason() == "rung 1: a result over its limits by 2.5, which others there keep");
  CHECK(world.decisions.at(1).action == Action::drop_checkpoint);
  world.restart();
  CHECK(world.report(3, 1, 0.1, {{"size", 9}}) == "-");  // it is over
  world.tell(3, End::stopped);
  CHECK(world.report(4, 1, 0.8) == "pause");  // what is not reported breaks nothing
  CHECK(world.ask(11) == "trial 4 to 3");
  CHECK(world.ask(12) == "trial 2 to 3");
  CHECK(world.ask(13) == "new to 1");  // never trial 0
}

TEST_CASE("ASHA: types that rank by one objective decline several") {
  for (const std::string type : {"cost_promotion", "rush_promotion"}) {
    Context context;
    context.objectives = kTwo;
    const auto made =
        make_tuner(builtin_tuners(), "ASHA", {{"type", type}, {"cost_attr", "cost"}}, context, 1);
    REQUIRE_FALSE(made);
    CHECK(made.error().message ==
          "ASHA.type: " + type +
              " ranks trials by one objective, and the experiment has several; "
              "leave the argument out");
    context.objectives[1].limit = 3;
    const json cost = type == "cost_promotion" ? json("cost") : json();
    CHECK(make_tuner(builtin_tuners(), "ASHA", {{"type", type}, {"cost_attr", cost}}, context, 1));
  }
}

TEST_CASE("PASHA: a higher rung opens when one of the objectives ranks otherwise") {
  const bool differs = GENERATE(false, true);
  PromotionWorld world = two(pasha_entry, 27);
  for (TrialId trial = 0; trial < 9; ++trial) world.ask(trial);
  for (TrialId trial = 0; trial < 9; ++trial) {
    world.report(trial, 1, 1 - double(trial) / 10, {{"size", double(trial)}});
  }
  for (TrialId trial = 0; trial < 3; ++trial) {
    CHECK(world.ask(100 + trial) == "trial " + std::to_string(trial) + " to 3");
  }
  world.report(0, 3, 1, {{"size", 0}});
  world.report(1, 3, 0.9, {{"size", differs ? -1.0 : 1.0}});
  world.restart();
  world.report(2, 3, 0.8, {{"size", 2}});
  CHECK(world.ask(200) == (differs ? "trial 0 to 9" : "new to 1"));
}

}  // namespace attune::asha_objectives_test
