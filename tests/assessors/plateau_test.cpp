#include <cmath>

#include "tests/support/random_curves.h"
#include "tests/support/scheduler_traces.h"

namespace attune {
extern const AssessorEntry plateau_entry;
}

namespace attune::plateau_test {

TEST_CASE("Plateau: trials end where Ray's stopper ends them") {
  const json cases = read_trace(traces_folder() / "ray_stoppers_explore_replay.json");
  int stops = 0;
  for (const json& one : cases["TrialPlateauStopper"]) {
    CAPTURE(one["args"].dump());
    json arguments = one["args"];
    arguments.erase("metric");
    arguments["optimize_mode"] = arguments.value("mode", "max") == "max" ? "maximize" : "minimize";
    arguments.erase("mode");
    AssessorFeed rule(plateau_entry, arguments);
    for (const json& call : one["sequence[trial,metric,stop]"]) {
      const TrialId trial = call[0] == "a" ? 0 : 1;
      const Decision decision = rule.value(trial, call[1]);
      REQUIRE((decision.action == Action::stop) == call[2].get<bool>());
      REQUIRE(decision.complete == call[2].get<bool>());
      stops += call[2].get<bool>();
      rule.reload();
    }
  }
  CHECK(stops >= 10);
}

TEST_CASE("Plateau: the trial has completed, and the reason names the numbers") {
  AssessorFeed rule(plateau_entry, {});
  for (int i = 0; i < 3; ++i) CHECK_FALSE(rule.stops(0, 0.5));
  const Decision end = rule.value(0, 0.501);
  CHECK(end.action == Action::stop);
  CHECK(end.complete);
  CHECK(end.reason == "step 3: the last 4 results deviate by 0.000433, less than 0.01");
}

TEST_CASE("Plateau: it is Ray's rule computed from scratch") {
  const bool maximize = GENERATE(true, false);
  AssessorFeed rule(plateau_entry, {{"optimize_mode", maximize ? "maximize" : "minimize"},
                                    {"std", 0.5},
                                    {"num_results", 3},
                                    {"grace_period", 5},
                                    {"metric_threshold", 0.25}});
  const int stops = RandomCurves().run(rule, 6, 2500, 3,
                                       [&](TrialId, const RandomCurves::Curve& curve, const auto&) {
                                         if (curve.size() < 5) return false;
                                         const double last = curve.rbegin()->second;
                                         if (maximize ? last < 0.25 : last > 0.25) return false;
                                         double sum = 0, squares = 0;
                                         auto value = curve.rbegin();
                                         for (int i = 0; i < 3; ++i, ++value) sum += value->second;
                                         value = curve.rbegin();
                                         for (int i = 0; i < 3; ++i, ++value)
                                           squares += std::pow(value->second - sum / 3, 2);
                                         return std::sqrt(squares / 3) < 0.5;
                                       });
  CHECK(stops > 30);
}

TEST_CASE("Plateau: several reports at once are judged in order") {
  AssessorFeed rule(plateau_entry, {});
  const Decision end = rule.values(0, {1, 1, 1, 1, 5});
  CHECK(end.action == Action::stop);
  CHECK(end.reason.starts_with("step 3:"));
}

}  // namespace attune::plateau_test
