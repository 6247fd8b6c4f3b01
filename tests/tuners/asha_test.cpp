#include <catch2/catch.hpp>
#include <map>

#include "tests/tuners/asha_world.h"

namespace attune::asha_test {

TEST_CASE("ASHA promotes, pauses and stops as Syne Tune did in its recordings") {
  const std::string type = GENERATE("promotion", "cost_promotion", "rush_promotion");
  for (const auto& path : traces("syne_" + type + "_")) {
    const json trace = read_trace(path);
    if (trace["args"].value("brackets", 1) > 1) continue;  // draws: tests/rungs/promotion_test.cpp
    json arguments = recorded_arguments(trace);
    arguments["type"] = type;
    if (type == "cost_promotion") arguments["cost_attr"] = trace["args"]["cost_attr"];
    if (type == "rush_promotion") {
      arguments["num_threshold_candidates"] =
          trace["args"]["rung_system_kwargs"]["num_threshold_candidates"];
    }
    for (const int restart_every : {100'000, 97}) {
      CAPTURE(path, restart_every);
      PromotionWorld world(asha_tuner_entry, arguments, recorded_objectives(trace));
      CHECK(replay_promotions(world, trace, restart_every, [](const json&) {}) ==
            std::ssize(trace["events"]));
    }
  }
}

TEST_CASE("ASHA: without arguments it counts reports, and starts at one") {
  PromotionWorld world(asha_tuner_entry, json::object());
  CHECK(world.tuner->pauses_at_budget());
  CHECK(world.ask(0) == "new to 1");
  CHECK(world.ask(1) == "new to 1");
  const auto report = [&](TrialId trial, std::int64_t step, double loss) {
    return world.tuner->on_report({trial, step, {{"default", loss}}});
  };
  CHECK(report(0, 0, 0.5)[0].reason == "rung 1: 0.5 is the first there and waits for others");
  CHECK(report(1, 0, 0.4)[0].reason == "rung 1: 0.4 ranks 1 of 2 and may go on to 3");
  CHECK(world.ask(2) == "trial 1 to 3");
  CHECK(world.why == "rung 1: 0.4 ranks 1 of 2, the best that waits: goes on to 3");
  CHECK(report(1, 1, 0.4).empty());
  CHECK(report(1, 2, 0.4).size() == 1);
}

TEST_CASE("ASHA: reasons name the numbers as the user sees them") {
  PromotionWorld world(asha_tuner_entry,
                       {{"max_t", 9}, {"resource_attr", "epoch"}, {"optimize_mode", "maximize"}},
                       {{"accuracy", true}, {"size", false, 10.0}});
  for (TrialId trial = 0; trial < 6; ++trial) world.ask(trial);
  world.report(0, 1, 0.9);
  world.report(1, 1, 0.8);
  world.report(2, 1, 0.7);
  CHECK(world.reason() == "rung 1: 0.7 ranks 3 of 3 and waits; needs 0.833333");
  world.report(3, 1, 0.95, {{"size", 12.5}});
  CHECK(world.reason() == "rung 1: a result over its limits by 2.5, which others there keep");
  world.report(4, 1, 0.85, {{"size", 7.5}});
  CHECK(world.reason() == "rung 1: 0.85 ranks 2 of 5 and may go on to 3");
  CHECK(world.report(5, 9, 0.5) == "complete");
  CHECK(world.reason() == "epoch has reached 9");

  PromotionWorld costs = small({{"type", "cost_promotion"}, {"cost_attr", "cost"}});
  for (TrialId trial = 0; trial < 2; ++trial) costs.ask(trial);
  for (TrialId trial = 0; trial < 2; ++trial) costs.report(trial, 1, double(trial), {{"cost", 2}});
  CHECK(costs.reason() ==
        "rung 1: 1 ranks 2 of 2 and waits; the best go on, with 0.333 of the cost");
}

TEST_CASE("ASHA: in a finite space promotions go on until nothing can change") {
  PromotionWorld world(asha_tuner_entry, {{"max_t", 9}, {"resource_attr", "epoch"}},
                       {{"loss", false}}, R"({"x": {"_type": "choice", "_value": [1, 2, 3]}})");
  for (TrialId trial = 0; trial < 3; ++trial) CHECK(world.ask(trial) == "new to 1");
  CHECK(world.ask(3) == "not yet");
  CHECK(world.report(0, 1, 0) == "pause");
  CHECK(world.report(1, 1, 1) == "pause");
  CHECK(world.ask(4) == "trial 0 to 3");
  world.restart();
  CHECK(world.ask(5) == "not yet");
  world.tell(2, End::failed, {}, {}, {{2}});
  CHECK(world.ask(6) == "not yet");  // trial 0 runs
  CHECK(world.report(0, 3, 0) == "pause");
  CHECK(world.ask(7) == "trial 0 to 9");  // nothing else is possible, and no trial has a result
  CHECK(world.ask(8) == "not yet");
  CHECK(world.report(0, 9, 0) == "complete");
  world.tell(0, End::completed, 0.0);
  CHECK(world.ask(8) == "exhausted");
  world.tuner->adopt(50, {{1}});
  world.report(50, 1, -1);
  world.restart();
  CHECK(world.ask(8) == "exhausted");  // for ever
}

TEST_CASE("ASHA: a trial that runs to max_t makes nothing possible, unless it fails") {
  PromotionWorld world(asha_tuner_entry,
                       {{"max_t", 9}, {"rung_levels", "1"}, {"resource_attr", "epoch"}},
                       {{"loss", false}}, R"({"x": {"_type": "choice", "_value": [1, 2]}})");
  for (TrialId trial = 0; trial < 2; ++trial) {
    CHECK(world.ask(trial) == "new to 1");
    world.report(trial, 1, double(trial));
  }
  CHECK(world.ask(2) == "trial 0 to 9");
  CHECK(world.ask(3) == "not yet");
  SECTION("it completes") { world.tell(0, End::completed, 0.0); }
  SECTION("it fails, and the next best one is to get a result") {
    world.tell(0, End::failed);
    CHECK(world.ask(3) == "trial 1 to 9");
    CHECK(world.last == Point{{1}});
    world.tell(1, End::failed);
  }
  CHECK(world.ask(4) == "exhausted");
}

TEST_CASE("ASHA: after maxTrialNumber trials promotions go on, and then perhaps new trials") {
  PromotionWorld world = small();
  world.context.max_trials = 3;
  world.tuner = world.make();
  for (TrialId trial = 0; trial < 3; ++trial) CHECK(world.ask(trial) == "new to 1");
  CHECK(world.ask(3) == "not yet");
  for (TrialId trial = 0; trial < 3; ++trial) world.report(trial, 1, double(trial));
  CHECK(world.ask(3) == "trial 0 to 3");
  CHECK(world.ask(4) == "not yet");
  world.report(0, 3, 0);
  CHECK(world.ask(4) == "trial 0 to 9");  // the best, so that there is a result
  CHECK(world.ask(5) == "not yet");
  CHECK(world.report(0, 9, 0) == "complete");
  world.tell(0, End::completed, 0.0);

  CHECK(world.ask(5) == "new to 1");
  const Point declined = world.last;
  world.restart();
  world.tell(5, End::stopped);
  world.restart();
  CHECK(world.ask(6) == "new to 1");
  CHECK(world.last == declined);  // it was no failure
  CHECK(world.ask(7) == "not yet");
  CHECK(world.report(6, 1, 5) == "pause");  // the number was raised
  CHECK(world.ask(7) == "trial 1 to 3");
  CHECK(world.ask(8) == "new to 1");
  CHECK(world.ask(9) == "new to 1");
}

TEST_CASE("ASHA: imports with the budget of a rung take a place there") {
  PromotionWorld world = small();
  const auto import = [&](double x, double loss, std::optional<double> budget) {
    world.tell(kImportedTrial, End::imported, loss, budget, {{x, x}});
  };
  import(0.25, 1, 1);
  import(0.5, 2, 1);
  import(0.75, 3, 1);
  import(0.25, 0.5, 3);  // the best had gone on
  import(0.25, 9, 3);    // a repetition
  import(0.125, 0, 5);   // no rung
  import(0.0625, 0, {});
  CHECK(world.ask(0) == "new to 1");
  CHECK(world.report(0, 1, 0.25) == "pause");
  CHECK(world.ask(1) == "trial 0 to 3");
  world.restart();
  CHECK(world.report(0, 3, 1) == "pause");
  CHECK(world.ask(2) == "new to 9");  // 0.5 at rung 3 is the best of two
  CHECK(world.last == Point{{0.25, 0.25}});
  CHECK(world.report(2, 3, 0.5) == "-");  // from scratch
  CHECK(world.report(2, 9, 0.5) == "complete");
  world.tell(2, End::completed, 0.5, 9.0, {{0.25, 0.25}});
  // A full result comes before that at a rung: the configuration does not go on.
  import(0.375, -5, {});
  import(0.375, -4, 1);
  CHECK(world.ask(3) == "new to 1");
  // What is told again after a change of the space has a trial, and so perhaps a checkpoint.
  world.tell(70, End::completed, -7, 1, {{0.875, 0.875}});
  CHECK(world.ask(4) == "new to 3 from 70");
  CHECK(world.last == Point{{0.875, 0.875}});
  world.tell(kImportedTrial, End::imported, {}, 1, {{0.1, 0.1}});  // without a result
  CHECK(world.ask(5) == "new to 1");
}

TEST_CASE("ASHA: what a plain manager of NNI hands back says its budget in the parameters") {
  PromotionWorld world = small();
  for (const double x : {0.25, 0.5, 0.75}) {
    const json parameters = {{"lr", x}, {"w", x}, {"TRIAL_BUDGET", x == 0.25 ? 3.0 : 1.0}};
    const auto point = world.tuner->point_from(world.space, parameters);
    REQUIRE(point);
    CHECK(*point == Point{{x, x}});
    Outcome outcome{kImportedTrial, *point, x, {}, End::imported, {}};
    outcome.extra = {{"TRIAL_BUDGET", parameters["TRIAL_BUDGET"]}};
    world.tuner->tell(std::vector{outcome});
  }
  CHECK(world.ask(0) == "new to 3");
  CHECK(world.last == Point{{0.5, 0.5}});
  CHECK(world.report(0, 3, 0.5) == "pause");
  CHECK(world.ask(1) == "new to 9");
  CHECK(world.last == Point{{0.25, 0.25}});
  CHECK_FALSE(world.tuner->point_from(world.space, {{"lr", 1}, {"w", 1}, {"budget", 3}}));
  CHECK_FALSE(world.tuner->point_from(world.space, {{"lr", 1}, {"TRIAL_BUDGET", 3}}));
  CHECK_FALSE(world.tuner->point_from(world.space, 3));
}

TEST_CASE("ASHA: a new space forgets rungs and trials") {
  PromotionWorld world = three_wait();
  REQUIRE(world.tuner->set_space(world.space));
  CHECK(world.report(0, 3, 0) == "-");
  world.tuner->adopt(1, {{0.5, 0.5}});  // it goes on with its old budget
  CHECK(world.report(1, 2, 0) == "pause");
  CHECK(world.reason() == "rung 1: 0 is the first there and waits for others");
  CHECK(world.ask(10) == "new to 1");
}

TEST_CASE("ASHA: adopted trials take part, and a full result of theirs is complete") {
  PromotionWorld world = small();
  for (TrialId trial = 0; trial < 3; ++trial) world.tuner->adopt(trial, {{0.1, 0.1}});
  world.tell(2, End::completed, -9);  // without a budget
  CHECK(world.report(0, 1, 1) == "pause");
  CHECK(world.report(1, 1, 2) == "pause");
  CHECK(world.reason() == "rung 1: 2 ranks 2 of 2 and waits; needs 1.33333");
  CHECK(world.ask(3) == "trial 0 to 3");
  world.restart();
  CHECK(world.report(0, 3, 1) == "pause");
  // Told as completed without a result, it is adopted again when the result comes.
  world.tell(0, End::completed, {}, 3.0);
  world.tuner->adopt(0, {{0.1, 0.1}});
  world.tell(0, End::completed, 1.0, 3.0);
  world.ask(4);
  world.tell(4, End::completed, {}, 1.0);
  world.tuner->adopt(4, {{0.1, 0.1}});
  world.tell(4, End::completed, 1.0, 1.0);
  world.restart();
  CHECK(world.ask(5) == "new to 1");
}

TEST_CASE("ASHA: a proposal that is taken back leaves nothing behind") {
  PromotionWorld world = small({{"type", "rush_promotion"}, {"num_threshold_candidates", 1}});
  CHECK(world.ask(0) == "new to 1");
  world.tuner->withdraw(0);
  CHECK(world.report(0, 1, 0) == "-");
  world.tuner->withdraw(0);
  CHECK(world.ask(0) == "new to 1");  // it is the candidate now
  CHECK(world.ask(1) == "new to 1");
  world.report(0, 1, 5);
  world.report(1, 1, 6);
  CHECK(world.ask(2) == "trial 0 to 3");
  for (TrialId trial = 10; trial < 20; ++trial) world.ask(trial);
  for (TrialId trial = 10; trial < 20; ++trial) world.report(trial, 1, 7);
  CHECK(world.reason() == "rung 1: 7 ranks 3 of 12 and waits; needs 5");
}

TEST_CASE("ASHA: a trial of bracket s starts s rungs higher, as often as the formula says") {
  PromotionWorld world = small({{"brackets", 3}});
  std::map<std::string, int> budgets;
  for (TrialId trial = 0; trial < 2000; ++trial) ++budgets[world.ask(trial)];
  // In proportion to 3 / (3 * 1), 3 / (2 * 3) and 3 / (1 * 9).
  CHECK(budgets["new to 1"] == Approx(2000 * 6 / 11.0).epsilon(0.1));
  CHECK(budgets["new to 3"] == Approx(2000 * 3 / 11.0).epsilon(0.1));
  CHECK(budgets["new to 9"] == Approx(2000 * 2 / 11.0).epsilon(0.1));
  CHECK(budgets.size() == 3);
}

std::string error_of(const json& arguments) {
  const TunerRegistry registry = builtin_tuners();
  const auto made = make_tuner(registry, "asha", arguments, {}, 1);
  return made ? "" : made.error().message;
}

TEST_CASE("ASHA: arguments that say nothing together are errors") {
  CHECK(error_of({{"type", "cost_promotion"}}) ==
        "ASHA.cost_attr: cost_promotion needs the name of a metric");
  CHECK(error_of({{"cost_attr", "x"}}) ==
        "ASHA.cost_attr: it is used with the type cost_promotion only");
  CHECK(error_of({{"num_threshold_candidates", 3}}) ==
        "ASHA.num_threshold_candidates: it is used with the type rush_promotion only");
  CHECK(error_of({{"grace_period", 101}}) == "ASHA.grace_period: must be at most max_t");
  CHECK(error_of({{"rung_levels", "1,3"}, {"rung_increment", 2}}) ==
        "ASHA.rung_levels: rung_increment says another thing; give one of them");
  for (const char* levels : {"", "1,", "3,1", "1;3", "0,1", "1,101", "1 3", "x", "1.5"}) {
    CAPTURE(levels);
    CHECK(error_of({{"rung_levels", levels}}) ==
          "ASHA.rung_levels: ascending integers from 1 to max_t expected, as in \"1,3,9\"");
  }
  CHECK(error_of({{"rung_increment", 1}, {"max_t", 1000000}}) ==
        "ASHA.rung_increment: it makes more than 1000 rungs");
  CHECK_FALSE(error_of({{"searcher", "Hyperband7"}}).empty());
  for (const char* levels : {"1,3,9", " 2 , 5,100 ", "100"}) {
    CHECK(error_of({{"rung_levels", levels}}).empty());
  }
  CHECK(error_of({{"max_t", 1}}).empty());
  CHECK(error_of({{"type", "rush_promotion"}}).empty());
  CHECK(error_of({{"searcher", "tpe"}}).empty());
}

TEST_CASE("ASHA: rungs can be given, and the last level is where trials end") {
  PromotionWorld world = small({{"rung_levels", "2,5,9"}});
  CHECK(world.ask(0) == "new to 2");
  CHECK(world.ask(1) == "new to 2");
  world.report(0, 2, 0);
  world.report(1, 2, 1);
  CHECK(world.ask(2) == "trial 0 to 5");
  PromotionWorld none = small({{"rung_levels", "9"}});
  CHECK(none.ask(0) == "new to 9");
}

}  // namespace attune::asha_test
