#include "rungs/stopping_syne.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <map>

#include "rungs/levels.h"
#include "tests/support/scheduler_traces.h"
#include "tests/support/through_text.h"

namespace attune::stopping_syne_test {

SyneStoppingOptions options_of(const json& trace) {
  const json& args = trace["args"];
  SyneStoppingOptions options;
  options.max_t = trace["T"];
  std::optional<std::int64_t> increment;
  if (args.contains("rung_increment")) increment = args["rung_increment"];
  options.levels = syne_levels(args.value("grace_period", 1), args.value("reduction_factor", 3.0),
                               options.max_t, increment);
  CHECK(options.levels == trace["rung_levels"].get<std::vector<std::int64_t>>());
  options.brackets = args.value("brackets", 1);
  options.maximise = args["mode"] == "max";
  options.threshold_candidates = args.value("rung_system_kwargs", json::object())
                                     .value("num_threshold_candidates", TrialId{0});
  return options;
}

void replay(const std::string& prefix) {
  for (const auto& path : traces(prefix)) {
    CAPTURE(path);
    const json trace = read_trace(path);
    const SyneStoppingOptions options = options_of(trace);
    std::unique_ptr<StoppingRule> rule = std::make_unique<SyneStoppingRule>(options);
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
        const double loss = (options.maximise ? -1 : 1) * event[3].get<double>();
        const Decision decision =
            rule->judge(trial, trials.at(trial), event[2], std::span(&loss, 1));
        REQUIRE((decision.action == Action::stop ? "STOP" : "CONTINUE") == event[4]);
        CHECK(decision.complete == (event[2] == trace["T"]));
        CHECK(rule->possible(trials.at(trial)));
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

TEST_CASE("ASHA stops what Syne Tune stopped") { replay("syne_stopping_"); }

TEST_CASE("RUSH stops what Syne Tune stopped") { replay("syne_rush_stopping_"); }

class Small {
 public:
  explicit Small(SyneStoppingOptions options) : rule(std::move(options)) {}

  bool stops(TrialId trial, double resource, double loss) {
    return decision(trial, resource, loss).action == Action::stop;
  }
  Decision decision(TrialId trial, double resource, double loss) {
    return rule.judge(trial, trials[trial], resource, std::span(&loss, 1));
  }

  SyneStoppingRule rule;
  std::map<TrialId, RungVisitor> trials;
};

TEST_CASE("ASHA: a level that a trial jumps over never has its result") {
  Small world({.levels = {1, 3, 9}, .max_t = 27});
  CHECK_FALSE(world.stops(0, 2, 1));
  CHECK_FALSE(world.stops(0, 4, 1));
  CHECK_FALSE(world.stops(0, 3, 1));  // the first one there
  CHECK_FALSE(world.stops(0, 3, 9));  // it counts once
  CHECK_FALSE(world.stops(1, 1, 5));  // the first one there, too
  CHECK(world.stops(1, 3, 1.5));
  CHECK_FALSE(world.stops(2, 3.5, 100));
  CHECK(world.stops(2, 30, 1));
  CHECK(world.decision(2, 27, 1).complete);
}

TEST_CASE("ASHA: a bracket does without its lowest levels, and shares the others") {
  Small world({.levels = {1, 3, 9}, .max_t = 27, .brackets = 2});
  REQUIRE(world.rule.brackets().size() == 2);
  world.trials[0].bracket = 1;
  CHECK_FALSE(world.stops(0, 1, 1));
  CHECK_FALSE(world.stops(0, 3, 1));
  CHECK_FALSE(world.stops(1, 1, 5));
  CHECK(world.stops(1, 3, 2));
  CHECK(world.rule.possible(world.trials[0]));
  CHECK_FALSE(world.rule.possible({.bracket = 1, .passed = {0}}));
  CHECK_FALSE(world.rule.possible({.bracket = 0, .passed = {3}}));
  CHECK_FALSE(world.rule.possible({.bracket = 2}));
}

TEST_CASE("ASHA: what is not a number is the worst of its rung") {
  const bool maximise = GENERATE(false, true);
  Small world({.levels = {1}, .max_t = 3, .maximise = maximise});
  CHECK_FALSE(world.stops(0, 1, NAN));  // nobody to compare with
  CHECK_FALSE(world.stops(1, 1, 0.5));
  CHECK(world.stops(2, 1, NAN));
  CHECK_FALSE(world.stops(3, 1, 0.6));  // of 0.5 and two that are worst
  CHECK(world.stops(4, 1, 0.7));
}

TEST_CASE("RUSH: only candidates that go on raise the threshold, and only proposed ones") {
  Small world({.levels = {1}, .max_t = 2, .threshold_candidates = 2});
  CHECK_FALSE(world.stops(-2, 1, 0.1));  // a configuration of the user's
  CHECK(world.stops(0, 1, 5));           // a candidate may be stopped
  CHECK_FALSE(world.stops(4, 1, 0.3));   // there is no threshold yet
  CHECK_FALSE(world.stops(1, 1, 0.2));
  CHECK_FALSE(world.stops(5, 1, 0.2));
  CHECK(world.stops(-3, 1, 9));
  CHECK(world.stops(-4, 1, 9));
  const Decision decision = world.decision(6, 1, 0.25);
  CHECK(decision.reason == "rung 1: 0.25 is worse than 0.2, the best of the first 2 trials");
}

TEST_CASE("ASHA: states of other levels, or of impossible numbers, are errors") {
  Small world({.levels = {1, 3}, .max_t = 9});
  world.stops(0, 1, 1);
  const json state = world.rule.save();
  REQUIRE(world.rule.loaded(state));
  CHECK_FALSE(SyneStoppingRule({.levels = {1}, .max_t = 9}).loaded(state));
  for (const char* key : {"losses", "thresholds"}) {
    for (const json& wrong : {json("x"), json(1.5), json::array({"x"}), json::array()}) {
      json damaged = state;
      damaged[key] = wrong;
      CHECK_FALSE(world.rule.loaded(damaged));
    }
  }
  json damaged = state;
  damaged["losses"][0] = "AAAAAAAA+H8=";  // NaN
  CHECK_FALSE(world.rule.loaded(damaged));
}

}  // namespace attune::stopping_syne_test
