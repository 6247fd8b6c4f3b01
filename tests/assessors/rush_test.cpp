#include "tests/assessors/rung_feed.h"
#include "tests/support/scheduler_traces.h"

namespace attune {

extern const AssessorEntry rush_entry;

namespace rush_test {

TEST_CASE("RUSH: recordings of one bracket, through the assessor and its states") {
  int decisions = 0;
  for (const auto& path : traces("syne_rush_stopping_")) {
    CAPTURE(path);
    const json trace = read_trace(path);
    const json& recorded = trace["args"];
    if (recorded["brackets"] != 1) continue;
    const json args = {
        {"resource_attr", recorded["resource_attr"]},
        {"max_t", trace["T"]},
        {"optimize_mode", recorded["mode"] == "max" ? "maximize" : "minimize"},
        {"grace_period", recorded["grace_period"]},
        {"reduction_factor", recorded["reduction_factor"]},
        {"num_threshold_candidates", recorded["rung_system_kwargs"]["num_threshold_candidates"]}};
    const std::string metric = recorded["metric"], resource = recorded["resource_attr"];
    RungFeed feed(rush_entry, args, {{.metric = metric}});
    for (const json& event : trace["events"]) {
      CAPTURE(event.dump());
      const TrialId trial = event[1];
      if (event[0] == "complete") feed.end(trial, End::completed);
      if (event[0] != "result") continue;
      const Decision decision = feed.report(trial, {{resource, event[2]}, {metric, event[3]}});
      REQUIRE((decision.action == Action::stop ? "STOP" : "CONTINUE") == event[4]);
      if (++decisions % 97 == 0) feed.restart();
      if (decision.action == Action::stop) feed.end(trial, End::stopped);
    }
  }
  CHECK(decisions >= 400);
}

TEST_CASE("RUSH: others must be as good as the best of the first trials") {
  RungFeed feed(rush_entry, {{"num_threshold_candidates", 2}, {"max_t", 2}});
  CHECK_FALSE(feed.stops(1, 0.2));
  for (const TrialId trial : {2, 3, 4}) CHECK(feed.stops(trial, 0.9));
  CHECK_FALSE(feed.stops(0, 0.1));
  for (const TrialId trial : {5, 6}) CHECK(feed.stops(trial, 0.9));
  CHECK(feed.report(7, 0.15).reason ==
        "rung 1: 0.15 is worse than 0.1, the best of the first 2 trials");
  feed.restart();
  CHECK(feed.stops(8, 0.15));
  CHECK_FALSE(feed.stops(9, 0.1));
}

TEST_CASE("RUSH: without candidates there is no threshold") {
  RungFeed feed(rush_entry, {{"max_t", 2}});
  CHECK_FALSE(feed.stops(0, 0.1));
  CHECK(feed.stops(1, 0.9));
  CHECK(feed.stops(2, 1.0));
  CHECK_FALSE(feed.stops(3, 0.5));
}

}  // namespace rush_test
}  // namespace attune
