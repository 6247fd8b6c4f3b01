#include "rungs/promotion.h"

#include <catch2/catch.hpp>
#include <cmath>

#include "base/rng.h"
#include "rungs/levels.h"
#include "rungs/promotion_cost.h"
#include "tests/support/scheduler_traces.h"
#include "tests/support/through_text.h"

namespace attune::promotion_test {

using Rule = PromotionRungs::Rule;

// The scheduler around the rungs, as far as a trace needs it: trials and their milestones.
struct Scheduler {
  PromotionRungs::Options options;
  std::int64_t candidates = 0;
  PromotionRungs rungs{options};

  struct Trial {
    std::size_t rung = 0;
    std::int64_t from = 0;
    PromotionCost cost = {};
  };
  std::map<TrialId, Trial> trials = {};

  std::int64_t start(TrialId trial, std::size_t bracket) {
    trials[trial] = {.rung = bracket};
    return rungs.level(bracket);
  }
  std::optional<std::pair<TrialId, std::int64_t>> promote() {
    const auto promotion = rungs.promote(options.max_t);
    if (!promotion) return std::nullopt;
    Trial& trial = trials.at(promotion->trial);
    trial.rung = promotion->rung + 1;
    trial.from = rungs.level(promotion->rung);
    return std::pair(promotion->trial, rungs.level(trial.rung));
  }
  std::string result(TrialId id, std::int64_t resource, double metric, double cost) {
    Trial& trial = trials.at(id);
    if (trial.from > 0 && resource <= trial.from) trial.cost.began_again();
    if (resource >= options.max_t) return "STOP";
    if (resource < rungs.level(trial.rung)) return "CONTINUE";
    rungs.enter(trial.rung, id,
                {.value = {0, options.maximise ? -metric : metric},
                 .cost = trial.cost.total(cost),
                 .candidate = id < candidates});
    trial.cost.reached(cost);
    return "PAUSE";
  }
};

Scheduler scheduler_of(const json& trace, Rule rule) {
  const json& args = trace["args"];
  const std::int64_t max_t = trace["T"];
  Scheduler made{{.rule = rule,
                  .levels = syne_levels(args["grace_period"], args["reduction_factor"], max_t),
                  .max_t = max_t,
                  .maximise = trace["mode"] == "max"}};
  if (rule == Rule::rush) {
    made.candidates = args["rung_system_kwargs"]["num_threshold_candidates"];
  }
  return made;
}

TEST_CASE("promotion: the trials that Syne Tune promoted, with its brackets") {
  const auto [prefix, rule] =
      GENERATE(table<std::string, Rule>({{"syne_promotion_", Rule::quantile},
                                         {"syne_cost_promotion_", Rule::cost},
                                         {"syne_rush_promotion_", Rule::rush}}));
  for (const auto& path : traces(prefix)) {
    json trace = read_trace(path);
    json defaults = {{"grace_period", 1}, {"reduction_factor", 3}};
    defaults.update(trace["args"]);
    trace["args"] = defaults;
    Scheduler scheduler = scheduler_of(trace, rule);
    CHECK(scheduler.options.levels == trace["rung_levels"].get<std::vector<std::int64_t>>());
    int compared = 0;
    for (const json& event : trace["events"]) {
      CAPTURE(path, event.dump(), compared);
      const TrialId trial = event[1];
      if (event[0] == "start") {
        REQUIRE_FALSE(scheduler.promote());
        const std::size_t bracket = event.size() > 3 ? event[3]["bracket"].get<std::size_t>() : 0;
        REQUIRE(scheduler.start(trial, bracket) == event[2]["epochs"]);
      } else if (event[0] == "resume") {
        REQUIRE(scheduler.promote() == std::pair(trial, event[2].get<std::int64_t>()));
      } else {
        REQUIRE(event[0] == "result");
        const double cost = rule == Rule::cost ? event[5]["cost"].get<double>() : 0;
        REQUIRE(scheduler.result(trial, event[2], event[3], cost) == event[4].get<std::string>());
      }
      if (++compared % 101 == 0) {
        const json state = through_text(scheduler.rungs.save());
        scheduler.rungs = PromotionRungs(scheduler.options);
        REQUIRE(scheduler.rungs.load(state));
        REQUIRE(scheduler.rungs.save().dump() == state.dump());
      }
    }
    CHECK(compared > 1000);
  }
}

TEST_CASE("promotion: costs add up over the runs of a trial, as in Syne Tune") {
  const json cases = read_trace(traces_folder() / "syne_unit_cases.json")["cost_promotion"];
  for (const std::string name : {"case_with_checkpointing", "case_restart_from_scratch"}) {
    Scheduler scheduler{{.rule = Rule::cost, .levels = {1, 3, 9}, .max_t = 27, .maximise = true}};
    int compared = 0;
    for (const json& event : cases[name]) {
      CAPTURE(name, event.dump());
      if (event[0] == "suggest" && event[1] == "start") {
        REQUIRE_FALSE(scheduler.promote());
        CHECK(scheduler.start(event[2], 0) == event[3]);
      } else if (event[0] == "suggest") {
        REQUIRE(scheduler.promote() ==
                std::pair(event[2].get<TrialId>(), event[3].get<std::int64_t>()));
      } else {
        CHECK(scheduler.result(event[1], event[2], event[3], event[4]) ==
              event[5].get<std::string>());
        CHECK(scheduler.trials.at(event[1]).cost.former == event[6]["cost_offset"]);
      }
      ++compared;
    }
    CHECK(compared >= 13);
  }
}

PromotionRungs rungs_of(Rule rule = Rule::quantile) {
  return PromotionRungs({.rule = rule, .levels = {1, 3}, .max_t = 9});
}

// Promotes all that are good enough now.
std::vector<TrialId> promoted(PromotionRungs& rungs, std::int64_t limit = 9) {
  std::vector<TrialId> trials;
  while (const auto promotion = rungs.promote(limit)) trials.push_back(promotion->trial);
  return trials;
}

TEST_CASE("promotion: the highest rung comes first, and a limit hides the higher ones") {
  PromotionRungs rungs = rungs_of();
  for (TrialId trial = 0; trial < 4; ++trial) {
    rungs.enter(0, trial, {.value = {0, static_cast<double>(trial)}});
    rungs.enter(1, 10 + trial, {.value = {0, static_cast<double>(trial)}});
  }
  CHECK(rungs.level(2) == 9);
  CHECK(promoted(rungs, 3) == std::vector<TrialId>{0, 1});
  CHECK(promoted(rungs) == std::vector<TrialId>{10, 11});
}

TEST_CASE("promotion: among equals the first to come goes first") {
  PromotionRungs rungs = rungs_of();
  for (const TrialId trial : {7, 3, 5}) rungs.enter(0, trial, {.value = {0, 1}});
  CHECK(promoted(rungs) == std::vector<TrialId>{7, 3, 5});
}

TEST_CASE("promotion: failed trials count as the worst, and are not promoted") {
  PromotionRungs rungs = rungs_of();
  rungs.enter(0, 0, {.value = {0, 5}});
  CHECK(promoted(rungs).empty());  // alone
  rungs.enter(0, 1, {.value = RungValue::worst(), .waits = false});
  CHECK(promoted(rungs) == std::vector<TrialId>{0});
  // Of 4 the best two have a rank of at most (4 - 1) / 3 = 1, counted from 0.
  rungs.enter(0, 2, {.value = {0, 6}});
  CHECK(promoted(rungs).empty());
  rungs.enter(0, 3, {.value = RungValue::worst(), .waits = false});
  CHECK(promoted(rungs) == std::vector<TrialId>{2});
  // Where all have failed, so has whoever would be promoted.
  rungs.enter(1, 1, {.value = RungValue::worst(), .waits = false});
  rungs.enter(1, 2, {.value = RungValue::worst(), .waits = false});
  CHECK(promoted(rungs).empty());
}

TEST_CASE("promotion: failures decide as the cutoff does with very bad losses") {
  Rng rng(3);
  for (int round = 0; round < 50; ++round) {
    PromotionRungs rungs = rungs_of(), twin = rungs_of();
    for (TrialId trial = 0; trial < 40; ++trial) {
      const double loss = rng.normal();
      const bool fails = rng.index(4) == 0;
      rungs.enter(0, trial,
                  {.value = fails ? RungValue::worst() : RungValue{0, loss}, .waits = !fails});
      twin.enter(0, trial, {.value = {0, fails ? 1e9 : loss}, .waits = !fails});
      CAPTURE(round, trial);
      REQUIRE(promoted(rungs) == promoted(twin));
    }
  }
}

TEST_CASE("promotion: who breaks a limit comes after all who keep it, by the violation") {
  PromotionRungs rungs = rungs_of();
  rungs.enter(0, 0, {.value = {0.5, 1}});
  rungs.enter(0, 1, {.value = {0.2, 2}});
  CHECK(promoted(rungs) == std::vector<TrialId>{1});
  rungs.enter(0, 2, {.value = {0, 9}});
  CHECK(promoted(rungs) == std::vector<TrialId>{2});
  rungs.enter(0, 3, {.value = {0, 8}});
  CHECK(promoted(rungs) == std::vector<TrialId>{3});
  CHECK(rungs.standing(0, 0).rank == 4);
  CHECK(rungs.standing(0, 2).rank == 2);
  CHECK(rungs.standing(0, 0).needed == 9);
  CHECK_FALSE(rungs.standing(0, 0).good_enough);
}

TEST_CASE("promotion: a trial that gave up counts on, and one that is put back waits again") {
  PromotionRungs rungs = rungs_of();
  for (TrialId trial = 0; trial < 4; ++trial) {
    rungs.enter(0, trial, {.value = {0, static_cast<double>(trial)}});
  }
  rungs.give_up(0, 0);
  CHECK(promoted(rungs) == std::vector<TrialId>{1});
  CHECK(rungs.standing(0, 2).rank == 3);
  rungs.put_back(0, 1);
  CHECK(promoted(rungs) == std::vector<TrialId>{1});
  CHECK(promoted(rungs).empty());
  rungs.give_up(1, 1);  // it is not there
  rungs.put_back(1, 1);
  CHECK_FALSE(rungs.enter(0, 2, {.value = {0, -5}}));
  CHECK(promoted(rungs).empty());
}

TEST_CASE("promotion: RUSH promotes nobody who is worse than the best candidate") {
  PromotionRungs rungs = rungs_of(Rule::rush);
  const auto enter = [&](TrialId trial, double loss) {
    rungs.enter(0, trial, {.value = {0, loss}, .candidate = trial < 2});
  };
  enter(0, 5);
  enter(10, 8);
  CHECK(promoted(rungs) == std::vector<TrialId>{0});  // and the threshold is 5
  for (TrialId trial = 11; trial < 20; ++trial) enter(trial, static_cast<double>(trial));
  enter(20, 5.5);
  CHECK(promoted(rungs).empty());  // the second of 12
  CHECK(rungs.standing(0, 20).needed == 5);
  enter(1, 7);  // a candidate need not meet the threshold
  CHECK(promoted(rungs) == std::vector<TrialId>{1});
  enter(21, 5);
  CHECK(promoted(rungs) == std::vector<TrialId>{21});
}

TEST_CASE("promotion: of the cost only a share is for the trials that go on") {
  PromotionRungs rungs = rungs_of(Rule::cost);
  const auto enter = [&](TrialId trial, double loss, double cost) {
    rungs.enter(0, trial, {.value = {0, loss}, .cost = cost});
  };
  enter(0, 1, 2);
  CHECK(promoted(rungs).empty());
  enter(1, 2, 2);
  CHECK(promoted(rungs).empty());  // 2 of 4 is more than a third
  enter(2, 3, 2);
  CHECK(promoted(rungs) == std::vector<TrialId>{0});  // exactly a third
  enter(3, 4, 6);
  CHECK(promoted(rungs) == std::vector<TrialId>{1});
  // The promoted one of two equals comes last, and its cost does not count against the other.
  PromotionRungs equals = rungs_of(Rule::cost);
  for (TrialId trial = 0; trial < 2; ++trial) equals.enter(0, trial, {.value = {0, 1}, .cost = 1});
  equals.enter(0, 2, {.value = {0, 2}, .cost = 1});
  CHECK(promoted(equals) == std::vector<TrialId>{0, 1});
}

TEST_CASE("promotion: damaged states are errors and change nothing") {
  PromotionRungs rungs = rungs_of(Rule::cost);
  Rng rng(4);
  for (TrialId trial = 0; trial < 1500; ++trial) {
    rungs.enter(0, trial, {.value = {0, rng.normal()}, .cost = rng.uniform()});
    rungs.promote(9);
  }
  const json good = rungs.save();
  for (const char* key : {"places", "threshold", "blocks", "next"}) {
    for (const json& wrong : {json(), json("x"), json(-1.5), json::array(), json("AAAAAAAA8D8=")}) {
      json damaged = good;
      damaged[0][key] = wrong;
      CAPTURE(key, wrong.dump());
      CHECK_FALSE(rungs.load(damaged));
    }
    json damaged = good;
    damaged[1].erase(key);
    CHECK_FALSE(rungs.load(damaged));
  }
  json fewer = good;
  fewer.erase(0);
  CHECK_FALSE(rungs.load(fewer));
  CHECK_FALSE(rungs.load(json::object()));
  CHECK(rungs.save() == good);
  PromotionRungs other = rungs_of(Rule::quantile);
  CHECK_FALSE(other.load(good));  // it has no costs
}

}  // namespace attune::promotion_test
