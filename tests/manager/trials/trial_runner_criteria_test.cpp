// What ends a trial, or the experiment, by what trials report.
#include <catch2/catch.hpp>

#include "tests/manager/trials/scripted_world.h"

namespace attune::trial_runner_criteria_test {

using Calls = std::vector<std::string>;
using Catch::Contains;

TEST_CASE("runner: criteria end a trial, and the experiment") {
  RunnerOptions options = World::limits(1, 50);
  options.trial.stop["epoch"] = 3;
  options.stop.reach_up["default"] = 0.9;
  options.objectives.front().maximize = true;
  options.stop.plateau = StopRules::Plateau{3, 0.01};
  World w(options);
  w.ready();
  const auto run_one = [&](int i, double value) {
    w.propose();
    w.report(job_id_of(i), {{"default", value}, {"epoch", 3}}, false);
    w.pump();
    w.end(job_id_of(i), Ending::stopped);
    w.pump();
  };
  SECTION("of the trial: its last result is its final one") {
    run_one(0, 0.5);
    CHECK(w.notes.all["t0000"].status == TrialStatus::succeeded);
    CHECK(w.notes.all["t0000"].score() == 0.5);
  }
  SECTION("a result that lacks it fails the trial") {
    w.propose();
    w.report("t0000", 0.5, false);
    w.pump();
    w.end("t0000", Ending::stopped);
    w.pump();
    CHECK(w.notes.all["t0000"].status == TrialStatus::failed);
    CHECK_THAT(w.notes.all["t0000"].reason, Contains("\"epoch\""));
  }
  SECTION("a threshold") {
    run_one(0, 0.95);
    w.closed();
    CHECK(w.notes.outcome->reason == "stop: default has reached 0.9");
  }
  SECTION("a threshold that an intermediate result reaches is what its trial ends with") {
    w.propose();
    w.report("t0000", {{"default", 0.95}, {"epoch", 1}}, false);
    w.pump();
    CHECK(w.backend.stopped == Calls{"t0000"});
    w.end("t0000", Ending::stopped);
    w.closed();
    CHECK(w.notes.all["t0000"].status == TrialStatus::succeeded);
    CHECK(w.notes.all["t0000"].score() == 0.95);
    CHECK(w.notes.outcome->reason == "stop: default has reached 0.9");
  }
  SECTION("a plateau") {
    for (int i = 0; i < 4; ++i) run_one(i, i == 0 ? 0.5 : 0.505);
    w.closed();
    CHECK_THAT(w.notes.outcome->reason, Contains("no better trial among the last 3"));
  }
}

}  // namespace attune::trial_runner_criteria_test
