#include "rungs/stopping_moasha.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <map>

#include "math/pareto.h"
#include "rungs/priorities.h"
#include "tests/support/scheduler_traces.h"
#include "tests/support/through_text.h"

namespace attune::stopping_moasha_test {

// The errors of Syne Tune that rungs/priorities.h names, both of them.
std::size_t with_the_errors(std::span<const double> rows, std::size_t objectives) {
  const auto front_of = nondominated_fronts(rows, objectives);
  std::vector<double> all;
  for (std::size_t front = 0; all.size() < front_of.size(); ++front) {
    std::vector<std::size_t> members;
    std::vector<double> own;
    for (std::size_t i = 0; i < front_of.size(); ++i) {
      if (front_of[i] != front) continue;
      members.push_back(i);
      for (std::size_t d = 0; d < objectives; ++d) own.push_back(rows[i * objectives + d]);
    }
    const auto order = epsilon_net(own, objectives);
    std::vector<std::size_t> places(order.size());
    for (std::size_t place = 0; place < order.size(); ++place) places[order[place]] = place;
    for (const std::size_t k : places) all.push_back(static_cast<double>(members[k]));
  }
  return better_than_last(all);
}

void replay(const std::string& prefix, RankOfLast rank) {
  for (const auto& path : traces(prefix)) {
    CAPTURE(path);
    const json trace = read_trace(path);
    const json& args = trace["args"];
    std::vector<Objective> objectives;
    for (std::size_t i = 0; i < args["metrics"].size(); ++i) {
      objectives.push_back({args["metrics"][i], args["mode"][i] == "max"});
    }
    const MilestoneOptions options = {.max_t = args["max_t"],
                                      .grace_period = args["grace_period"],
                                      .reduction_factor = args["reduction_factor"],
                                      .brackets = args["brackets"]};
    std::unique_ptr<StoppingRule> rule = std::make_unique<MoashaRule>(options, objectives, rank);
    std::map<TrialId, RungVisitor> trials;
    int decisions = 0, stops = 0, events = 0;
    for (const json& event : trace["events"]) {
      CAPTURE(event.dump());
      if (++events % 50 == 0) {
        auto loaded = rule->loaded(through_text(rule->save()));
        REQUIRE(loaded);
        rule = *std::move(loaded);
      }
      const TrialId trial = event[1];
      if (event[0] == "start") {
        const std::size_t bracket = event.size() > 3 ? event[3]["bracket"].get<std::size_t>() : 0;
        REQUIRE(trials.try_emplace(trial, RungVisitor{.bracket = bracket}).second);
      } else if (event[0] == "result") {
        Report report = {trial, 0, {{args["metrics"][0], event[3]}}};
        for (const auto& [name, value] : event[5].items()) report.metrics.push_back({name, value});
        const Decision decision =
            rule->judge(trial, trials.at(trial), event[2], losses_of(report, objectives));
        REQUIRE((decision.action == Action::stop ? "STOP" : "CONTINUE") == event[4]);
        CHECK(decision.complete == (event[2] >= args["max_t"]));
        ++decisions;
        stops += decision.action == Action::stop;
      } else {
        REQUIRE(event[0] == "complete");
        trials.erase(trial);
      }
    }
    CHECK(stops > 0);
    CHECK(stops < decisions);
  }
}

TEST_CASE("MOASHA stops what Syne Tune stopped, by the mean and by the first objective") {
  replay("syne_moasha_linear_", better_by_mean);
  replay("syne_moasha_fixed_", better_by_first);
}

TEST_CASE("MOASHA with Syne Tune's errors in the order stops what Syne Tune stopped") {
  replay("syne_moasha_nondom_", with_the_errors);
}

class Small {
 public:
  explicit Small(std::vector<Objective> objectives, double factor = 2,
                 RankOfLast rank = better_by_trade_off)
      : rule({.reduction_factor = factor}, objectives, rank), objectives_(std::move(objectives)) {}

  // Each result is that of a new trial, at rung 1.
  Decision add(const std::vector<double>& values) {
    Report report;
    for (std::size_t i = 0; i < values.size(); ++i) {
      report.metrics.push_back({objectives_[i].metric, values[i]});
    }
    RungVisitor visitor;
    return rule.judge(0, visitor, 1, losses_of(report, objectives_));
  }
  bool stops(const std::vector<double>& values) { return add(values).action == Action::stop; }

  MoashaRule rule;

 private:
  std::vector<Objective> objectives_;
};

TEST_CASE("MOASHA: the best result of all is not stopped, though Syne Tune stops it") {
  Small ours({{"a"}, {"b"}});
  Small theirs({{"a"}, {"b"}}, 2, with_the_errors);
  for (Small* world : {&ours, &theirs}) {
    for (const double x : {2.0, 3.0, 4.0, 5.0}) world->add({x, x});
  }
  CHECK_FALSE(ours.stops({1, 1}));
  CHECK(theirs.stops({1, 1}));
}

TEST_CASE("MOASHA: a trade-off that nobody beats goes on, and what is beaten does not") {
  Small world({{"loss"}, {"accuracy", true}});
  CHECK_FALSE(world.stops({1, 0.5}));
  CHECK_FALSE(world.stops({0.5, 0.2}));
  CHECK(world.stops({2, 0.4}));
  CHECK(world.stops({2.5, 0.3}));
  CHECK_FALSE(world.stops({2, 0.9}));
  CHECK(world.add({3, 0.3}).reason == "rung 1: (3, 0.3) ranks 6 of 6; the best 50 % go on");
}

TEST_CASE("MOASHA: what breaks a limit ranks behind all that keep it, by how much it breaks it") {
  Small world({{"loss"}, {"memory", false, 10.0}});
  CHECK_FALSE(world.stops({1, 15}));    // the first one there
  CHECK_FALSE(world.stops({0.1, 16}));  // second of two
  CHECK(world.add({0.05, 17}).reason ==
        "rung 1: 0.05 breaks a limit by 7 and ranks 3 of 3; the best 50 % go on");
  CHECK_FALSE(world.stops({0.9, 14}));
  CHECK_FALSE(world.stops({9, 10}));  // ranks first: it is the only one that keeps the limit
  CHECK_FALSE(world.stops({8, 3}));
  CHECK_FALSE(world.stops({7, 9}));
  CHECK_FALSE(world.stops({0, 13.9}));  // fourth of eight
  CHECK(world.stops({0, 14.5}));        // sixth of nine
}

TEST_CASE("MOASHA: a number that is not finite makes a result the last") {
  const double bad = GENERATE(double(NAN), double(INFINITY), double(-INFINITY));
  Small world({{"loss"}, {"cost"}, {"memory", false, 10.0}}, 5);
  CHECK_FALSE(world.stops({bad, 0, 0}));
  CHECK_FALSE(world.stops({5, 5, 99}));  // breaks its limit, and is better
  CHECK(world.stops({0, bad, 0}));
  CHECK(world.add({0, 0, bad}).reason ==
        "rung 1: a result that is not finite ranks 2 of 4; the best 20 % go on");
}

TEST_CASE("MOASHA: a rung remembers its newest thousand results, also in a state") {
  Small world({{"loss"}, {"cost"}}, 2, better_by_mean);
  for (int i = 0; i < 1000; ++i) world.add({0, 0});
  CHECK(world.stops({1, 1}));  // rank 1001 of 1001
  for (int i = 0; i < 499; ++i) world.add({2, 2});
  // 500 zeros, a one and 499 twos: better is a share of 501 / 1001.
  CHECK(world.stops({1.5, 1.5}));
  CHECK_FALSE(world.stops({1.25, 1.25}));  // 500 of 1001, because the oldest zero is gone
  const json state = world.rule.save();
  const auto loaded = world.rule.loaded(through_text(state));
  REQUIRE(loaded);
  CHECK((*loaded)->save() == state);
}

TEST_CASE("MOASHA: states of other milestones, or of impossible numbers, are errors") {
  Small world({{"loss"}, {"cost"}});
  world.add({1, 1});
  const json state = world.rule.save();
  REQUIRE(world.rule.loaded(state));
  CHECK_FALSE(Small({{"loss"}}).rule.loaded(state));
  CHECK_FALSE(Small({{"loss"}, {"cost"}}, 10).rule.loaded(state));
  for (const char* key : {"rows", "violations"}) {
    for (const json& wrong : {json("x"), json(1.5), json(""), json("AAAAAAAA+H8=")}) {
      json damaged = state;
      damaged[0][key] = wrong;
      CHECK_FALSE(world.rule.loaded(damaged));
    }
  }
  json damaged = state;
  damaged[0] = json::array();
  CHECK_FALSE(world.rule.loaded(damaged));
}

}  // namespace attune::stopping_moasha_test
