#include "rungs/stopping_ray.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <map>

#include "tests/support/scheduler_traces.h"
#include "tests/support/through_text.h"

namespace attune::stopping_ray_test {

double number(const json& value) {
  if (value == "NaN") return NAN;
  if (value == "Infinity") return INFINITY;
  if (value == "-Infinity") return -INFINITY;
  return value.get<double>();
}

TrialId trial_of(const json& id) {
  return id.is_string() ? std::stoi(id.get<std::string>()) : id.get<TrialId>();
}

// A rule with the trials that it knows, in terms of the recordings.
class World {
 public:
  // `scheduler`: the arguments of the recorded scheduler; `defaults`: what they fall back to.
  World(const json& scheduler, const MilestoneOptions& defaults, MilestoneRule rule) {
    MilestoneOptions options = defaults;
    options.max_t = scheduler.value("max_t", options.max_t);
    options.grace_period = scheduler.value("grace_period", options.grace_period);
    options.reduction_factor = scheduler.value("reduction_factor", options.reduction_factor);
    options.brackets = scheduler.value("brackets", options.brackets);
    options.stop_last_trials = scheduler.value("stop_last_trials", true);
    objective_ = {.metric = "m", .maximize = scheduler.value("mode", "max") == "max"};
    if (scheduler.contains("do_minimize")) objective_.maximize = !scheduler["do_minimize"];
    rule_ = std::make_unique<AsyncHyperBandRule>(options, rule, objective_.maximize);
  }

  void add(TrialId trial, std::size_t bracket) {
    REQUIRE(trials.try_emplace(trial, RungVisitor{.bracket = bracket}).second);
  }
  std::string result(TrialId trial, double resource, double value) {
    const Decision decision = rule_->judge(trial, trials.at(trial), resource, losses(value));
    CHECK(decision.trial == trial);
    CHECK(decision.reason.empty() == (decision.action == Action::keep_going));
    return decision.action == Action::stop ? "STOP" : "CONTINUE";
  }
  void complete(TrialId trial, double resource, double value) {
    dynamic_cast<AsyncHyperBandRule&>(*rule_).complete(trial, trials.at(trial), resource,
                                                       losses(value));
    trials.erase(trial);
  }
  void restart() {
    auto loaded = rule_->loaded(through_text(rule_->save()));
    REQUIRE(loaded);
    CHECK((*loaded)->save() == rule_->save());
    for (const auto& [trial, visitor] : trials) CHECK((*loaded)->possible(visitor));
    rule_ = *std::move(loaded);
  }

  std::map<TrialId, RungVisitor> trials;

 private:
  std::vector<double> losses(double value) const {
    return losses_of({0, 0, {{"m", value}}}, std::span(&objective_, 1));
  }

  Objective objective_;
  std::unique_ptr<StoppingRule> rule_;
};

void replay(const std::string& prefix, const MilestoneOptions& defaults, MilestoneRule rule) {
  for (const auto& path : traces(prefix)) {
    CAPTURE(path);
    const json trace = read_trace(path);
    World world(trace["args"], defaults, rule);
    std::map<TrialId, json> last;
    int decisions = 0, stops = 0, events = 0;
    for (const json& event : trace["events"]) {
      CAPTURE(event.dump());
      if (++events % 50 == 0) world.restart();
      const TrialId trial = trial_of(event[1]);
      if (event[0] == "add") {
        world.add(trial, event.size() > 2 ? event[2].get<std::size_t>() : 0);
      } else if (event[0] == "start") {
        REQUIRE(world.trials.contains(trial));  // all start in turn, nobody is chosen
      } else if (event[0] == "result") {
        const std::string decision = world.result(trial, event[2], event[3]);
        REQUIRE(decision == event[4].get<std::string>());
        last[trial] = event;
        ++decisions;
        stops += decision == "STOP";
      } else {
        // After a stop, Ray's runner tells the last result once more.
        REQUIRE((event[0] == "complete" || event[0] == "complete_after_stop"));
        const json& result = event[0] == "complete" ? event : last.at(trial);
        world.complete(trial, result[2], result[3]);
      }
    }
    CHECK(stops > 0);
    CHECK(stops < decisions);
  }
}

TEST_CASE("AsyncHyperBand stops what Ray Tune stopped") {
  replay("ray_asha_", {}, MilestoneRule::percentile);
}

TEST_CASE("AsyncHyperBand stops what Ray of 2018 stopped") {
  replay("ray18_asha_", {.grace_period = 10, .reduction_factor = 3, .brackets = 3},
         MilestoneRule::percentile);
}

TEST_CASE("AsyncHyperBand: the rule rank stops what Syne Tune 0.15 stopped") {
  replay("syne015_asha_", {.reduction_factor = 3}, MilestoneRule::rank);
}

TEST_CASE("AsyncHyperBand answers all calls of Ray's own tests") {
  const json tests = read_trace(traces_folder() / "ray_unit_scheduler_calls.json")["tests"];
  int replayed = 0, decisions = 0;
  for (const auto& [name, test] : tests.items()) {
    if (test["events"].empty()) continue;
    if (test["events"][0].value("cls", "") != "AsyncHyperBandScheduler") continue;
    CAPTURE(name);
    ++replayed;
    std::optional<World> world;
    std::string time, metric;
    for (const json& event : test["events"]) {
      CAPTURE(event.dump());
      const std::string op = event["op"];
      if (op == "new" && world) {
        world->restart();  // Ray's test restores the saved scheduler into this one
        continue;
      }
      if (op == "new") {
        world.emplace(event["args"], MilestoneOptions{}, MilestoneRule::percentile);
        time = event["args"].value("time_attr", "training_iteration");
        metric = event["args"]["metric"];
        continue;
      }
      const TrialId trial = event["trial"];
      if (op == "on_trial_add") {
        world->add(trial, 0);
        continue;
      }
      const json& result = event["result"];
      if (op == "on_trial_complete") {
        world->complete(trial, result[time], number(result[metric]));
        continue;
      }
      REQUIRE(op == "on_trial_result");
      REQUIRE(world->result(trial, result[time], number(result[metric])) ==
              event["decision"].get<std::string>());
      ++decisions;
    }
  }
  CHECK(replayed >= 9);
  CHECK(decisions >= 100);
}

AsyncHyperBandRule rule(const MilestoneOptions& options) {
  return {options, MilestoneRule::percentile, false};
}

bool stops(StoppingRule& rule, RungVisitor& visitor, double resource, double loss) {
  return rule.judge(0, visitor, resource, std::span(&loss, 1)).action == Action::stop;
}

TEST_CASE("AsyncHyperBand: a report fills the highest rung that is open, the next one another") {
  AsyncHyperBandRule some = rule({.max_t = 81, .reduction_factor = 3});
  RungVisitor jumper;
  CHECK_FALSE(stops(some, jumper, 10, 1));
  CHECK(jumper.passed == std::set<std::size_t>{2});
  CHECK_FALSE(stops(some, jumper, 11, 1));
  CHECK(jumper.passed == std::set<std::size_t>{1, 2});
  CHECK_FALSE(stops(some, jumper, 12, 1));
  CHECK_FALSE(stops(some, jumper, 13, 1));
  CHECK(jumper.passed == std::set<std::size_t>{0, 1, 2});
  RungVisitor other;
  CHECK(stops(some, other, 1, 1.1));
}

TEST_CASE("AsyncHyperBand: without an end, a rung that is passed hides those below") {
  AsyncHyperBandRule endless = rule({.max_t = 9, .reduction_factor = 3, .stop_last_trials = false});
  RungVisitor jumper;
  CHECK_FALSE(stops(endless, jumper, 5, 1));
  CHECK_FALSE(stops(endless, jumper, 6, 1));
  CHECK(jumper.passed == std::set<std::size_t>{1});
  CHECK_FALSE(stops(endless, jumper, 1000, 1));
  CHECK(jumper.passed == std::set<std::size_t>{1, 2});
}

// Between 0.1 and 0.4 the percentile 75 is 0.4 - 0.3 * 0.25 for numpy, which rounds to 0.325. The
// form 0.1 + 0.3 * 0.75 would be a little larger, and would stop the trial.
TEST_CASE("AsyncHyperBand: the percentile is numpy's to the last bit") {
  AsyncHyperBandRule some({.reduction_factor = 4}, MilestoneRule::percentile, true);
  for (const double score : {0.1, 0.4, 0.325}) {
    RungVisitor visitor;
    CHECK_FALSE(stops(some, visitor, 1, -score));
  }
}

TEST_CASE("AsyncHyperBand: a result that ran away is the worst, whatever its sign") {
  AsyncHyperBandRule some = rule({.reduction_factor = 2});
  const Objective objective = {.metric = "m"};
  const auto add = [&](double value) {
    RungVisitor visitor;
    const auto losses = losses_of({0, 0, {{"m", value}}}, std::span(&objective, 1));
    return some.judge(0, visitor, 1, losses).action == Action::stop;
  };
  CHECK_FALSE(add(1));
  CHECK(add(-INFINITY));
  CHECK(add(INFINITY));
  CHECK_FALSE(add(NAN));
  CHECK_FALSE(add(5));  // the median of 1 and two that ran away
  CHECK(add(1e308));    // of 1, 5 and the two: between 5 and the worst
}

TEST_CASE("AsyncHyperBand: states of other arguments, or of impossible numbers, are errors") {
  AsyncHyperBandRule some = rule({.max_t = 81, .reduction_factor = 3});
  RungVisitor visitor;
  stops(some, visitor, 1, 1);
  const json state = some.save();
  REQUIRE(some.loaded(state));
  CHECK_FALSE(rule({.max_t = 9, .reduction_factor = 3}).loaded(state));
  json damaged = state;
  damaged[0] = "AAAAAAAA8H8=";  // infinity
  CHECK_FALSE(some.loaded(damaged));
  damaged[0] = json::array();
  CHECK_FALSE(some.loaded(damaged));
  CHECK_FALSE(some.possible({.bracket = 1}));
  CHECK_FALSE(some.possible({.bracket = 0, .passed = {5}}));
  CHECK(some.possible({.bracket = 0, .passed = {0, 4}}));
}

}  // namespace attune::stopping_ray_test
