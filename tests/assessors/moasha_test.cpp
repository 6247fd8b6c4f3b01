#include <cmath>

#include "tests/assessors/rung_feed.h"
#include "tests/support/scheduler_traces.h"

namespace attune {

extern const AssessorEntry moasha_entry;

namespace moasha_test {

void replay(const std::string& prefix, const std::string& priority) {
  int decisions = 0;
  for (const auto& path : traces(prefix)) {
    CAPTURE(path);
    const json trace = read_trace(path);
    const json& recorded = trace["args"];
    if (recorded["brackets"] != 1) continue;
    json args = {{"priority", priority},
                 {"optimize_mode", recorded["mode"][0] == "max" ? "maximize" : "minimize"}};
    for (const char* key : {"time_attr", "max_t", "grace_period", "reduction_factor"}) {
      args[key] = recorded[key];
    }
    const std::string first = recorded["metrics"][0], second = recorded["metrics"][1];
    RungFeed feed(
        moasha_entry, args,
        {{.metric = first}, {.metric = second, .maximize = recorded["mode"][1] == "max"}});
    for (const json& event : trace["events"]) {
      CAPTURE(event.dump());
      const TrialId trial = event[1];
      if (event[0] == "complete") feed.end(trial, End::completed);
      if (event[0] != "result") continue;
      const Decision decision = feed.report(
          trial,
          {{recorded["time_attr"], event[2]}, {first, event[3]}, {second, event[5][second]}});
      REQUIRE((decision.action == Action::stop ? "STOP" : "CONTINUE") == event[4]);
      if (++decisions % 97 == 0) feed.restart();
      if (decision.action == Action::stop) feed.end(trial, End::stopped);
    }
  }
  CHECK(decisions >= 300);
}

TEST_CASE("MOASHA: recordings of one bracket, through the assessor and its states") {
  replay("syne_moasha_linear_", "linear");
  replay("syne_moasha_fixed_", "fixed");
}

TEST_CASE("MOASHA: trade-offs go on by default, and the last and best is not stopped") {
  RungFeed feed(moasha_entry, {{"reduction_factor", 2}}, {{"a"}, {"b"}});
  TrialId trial = 0;
  for (const double x : {2.0, 3.0, 4.0, 5.0}) feed.report(trial++, {{"a", x}, {"b", x}});
  CHECK(feed.report(trial++, {{"b", 1}, {"a", 1}}).action == Action::keep_going);
  CHECK(feed.report(trial++, {{"a", 0.5}, {"b", 9}}).action == Action::keep_going);
  CHECK(feed.report(trial++, {{"a", 6}, {"b", 6}}).reason ==
        "rung 1: (6, 6) ranks 7 of 7; the best 50 % go on");
}

TEST_CASE("MOASHA: a report without one of the metrics, a limited one included, fills no rung") {
  RungFeed feed(moasha_entry, {}, {{"a"}, {"b"}, {"memory", false, 10.0}});
  const json before = feed.state()["rungs"];
  CHECK(feed.report(0, {{"a", 1}, {"b", 1}}).action == Action::keep_going);
  CHECK(feed.state()["rungs"] == before);
  CHECK(feed.report(0, {{"a", 1}, {"b", 1}, {"memory", 1}}).action == Action::keep_going);
  CHECK(feed.state()["rungs"] != before);
  CHECK(feed.report(1, {{"a", 0}, {"b", 0}, {"memory", 12}}).reason ==
        "rung 1: (0, 0) breaks a limit by 2 and ranks 2 of 2; the best 33.3 % go on");
}

TEST_CASE("MOASHA: a single objective, brackets, ends of all kinds, and a loaded state") {
  const json args = {{"brackets", 2}, {"max_t", 9}};
  RungFeed feed(moasha_entry, args, {}, 3), loaded(moasha_entry, args, {}, 4);
  Rng rng(1);
  int stops = 0, complete = 0;
  for (TrialId trial = 0; trial < 60; ++trial) {
    const double value = rng.index(10) == 0 ? NAN : rng.normal();
    if (trial == 30) REQUIRE(loaded.load(through_text(feed.state())));
    for (int step = 0; step < 9; ++step) {
      const Decision decision = feed.report(trial, value);
      if (trial >= 30) CHECK(loaded.report(trial, value).reason == decision.reason);
      stops += decision.action == Action::stop;
      complete += decision.complete;
    }
    const End ends[] = {End::completed, End::failed, End::stopped, End::diverged};
    feed.end(trial, ends[trial % 4]);
    if (trial >= 30) loaded.end(trial, ends[trial % 4]);
  }
  CHECK(stops > 70);
  CHECK(complete == 60);
  CHECK(loaded.state() == feed.state());
  CHECK(feed.state()["trials"].empty());
}

TEST_CASE("MOASHA: wrong arguments are errors that name them") {
  CHECK(complaint(moasha_entry, {{"max_t", 5}, {"grace_period", 6}}) ==
        "MOASHA.grace_period: must be at most max_t");
  CHECK(complaint(moasha_entry, {{"priority", "best"}}).starts_with("MOASHA"));
}

}  // namespace moasha_test
}  // namespace attune
