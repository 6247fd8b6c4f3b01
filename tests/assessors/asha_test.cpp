#include <cmath>

#include "tests/assessors/rung_feed.h"
#include "tests/support/scheduler_traces.h"

namespace attune {

extern const AssessorEntry asha_entry;

namespace asha_test {

TEST_CASE("ASHA: recordings of one bracket, through the assessor and its states") {
  int decisions = 0;
  for (const auto& path : traces("syne_stopping_")) {
    CAPTURE(path);
    const json trace = read_trace(path);
    const json& recorded = trace["args"];
    if (recorded.value("brackets", 1) != 1) continue;
    json args = {{"resource_attr", recorded["resource_attr"]},
                 {"max_t", trace["T"]},
                 {"optimize_mode", recorded["mode"] == "max" ? "maximize" : "minimize"}};
    for (const char* key : {"grace_period", "reduction_factor", "rung_increment"}) {
      if (recorded.contains(key)) args[key] = recorded[key];
    }
    const std::string metric = recorded["metric"], resource = recorded["resource_attr"];
    RungFeed feed(asha_entry, args, {{.metric = metric}});
    for (const json& event : trace["events"]) {
      CAPTURE(event.dump());
      const TrialId trial = event[1];
      if (event[0] == "complete") feed.end(trial, End::completed);
      if (event[0] != "result") continue;
      const Decision decision = feed.report(trial, {{resource, event[2]}, {metric, event[3]}});
      REQUIRE((decision.action == Action::stop ? "STOP" : "CONTINUE") == event[4]);
      CHECK(decision.complete == (event[2] == trace["T"]));
      if (++decisions % 97 == 0) feed.restart();
      if (decision.action == Action::stop) feed.end(trial, End::stopped);
    }
  }
  CHECK(decisions >= 900);
}

TEST_CASE("ASHA: reasons name the numbers, in the user's sign") {
  RungFeed feed(asha_entry, {{"optimize_mode", "maximize"}, {"max_t", 9}});
  feed.report(0, 0.5);
  feed.report(1, 0.8);
  CHECK(feed.report(2, 0.6).reason == "rung 1: 0.6 ranks 2 of 3; the best 33.3 % end at 0.666667");
  for (int step = 0; step < 8; ++step) feed.report(1, 0.8);
  CHECK(feed.ask(1).action == Action::keep_going);  // it was told already
  CHECK(feed.report(1, 0.8).reason == "has used its full resource: 10 of 9");
}

TEST_CASE("ASHA: rungs are where the arguments say") {
  const auto rungs = [](const json& args) {
    RungFeed feed(asha_entry, args);
    std::vector<int> found;
    json before = feed.state()["rungs"];
    for (int step = 1; step <= 30; ++step) {
      feed.report(0, 1);
      const json after = feed.state()["rungs"];
      if (after != before) found.push_back(step);
      before = after;
    }
    return found;
  };
  CHECK(rungs({{"max_t", 27}}) == std::vector<int>{1, 3, 9});
  CHECK(rungs({{"max_t", 28}, {"grace_period", 2}, {"reduction_factor", 2.5}}) ==
        std::vector<int>{2, 5, 12});
  CHECK(rungs({{"max_t", 27}, {"rung_increment", 10}}) == std::vector<int>{1, 11, 21});
  CHECK(rungs({{"max_t", 9}, {"rung_levels", "1,3,9"}}) == std::vector<int>{1, 3});
  CHECK(rungs({{"max_t", 20}, {"rung_levels", "2, 7, 9"}}) == std::vector<int>{2, 7, 9});
  CHECK(rungs({{"max_t", 1}}).empty());
}

TEST_CASE("ASHA: a level that was not reported exactly is left out") {
  RungFeed feed(asha_entry, {{"resource_attr", "epoch"}});
  const auto report = [&](TrialId trial, double epoch, double value) {
    return feed.report(trial, {{"epoch", epoch}, {"default", value}}).action == Action::stop;
  };
  CHECK_FALSE(report(0, 1, 1));
  CHECK_FALSE(report(0, 4, 1));
  CHECK_FALSE(report(1, 2.5, 100));
  CHECK_FALSE(report(1, 3, 100));  // the only one at 3
  CHECK_FALSE(report(2, 2, 100));
  CHECK(report(3, 1, 100));
}

TEST_CASE("ASHA: reports that come together, and steps that come again") {
  RungFeed feed(asha_entry, {});
  feed.report(0, 1);
  feed.add(1, {{"default", 3}});
  CHECK(feed.report(1, 0).reason == "rung 1: 3 ranks 2 of 2; the best 33.3 % end at 1.66667");
  const json before = feed.state();
  feed.rewrite(0, 0, 5);
  CHECK(feed.state() == before);
}

TEST_CASE(
    "ASHA: however a trial ends, its results stay; what failed before a rung does not count") {
  const End end = GENERATE(End::completed, End::failed, End::stopped, End::diverged);
  RungFeed feed(asha_entry, {});
  feed.report(0, 1);
  const json rungs = feed.state()["rungs"];
  feed.end(0, end);
  CHECK(feed.state()["rungs"] == rungs);
  CHECK(feed.state()["trials"].empty());
  CHECK(feed.stops(1, 2));
}

TEST_CASE("ASHA: with brackets, a loaded state gives the same rest") {
  const json args = {{"brackets", 3}, {"max_t", 27}};
  RungFeed feed(asha_entry, args, {}, 7), loaded(asha_entry, args, {}, 8);
  Rng rng(1);
  std::set<int> brackets;
  for (TrialId trial = 0; trial < 60; ++trial) {
    const double value = rng.index(10) == 0 ? NAN : rng.normal();
    if (trial == 30) REQUIRE(loaded.load(through_text(feed.state())));
    for (int step = 0; step < 10; ++step) {
      const std::string reason = feed.report(trial, value).reason;
      if (trial >= 30) CHECK(loaded.report(trial, value).reason == reason);
    }
    brackets.insert(feed.state()["trials"].back()["bracket"].get<int>());
    feed.end(trial, End::completed);
    if (trial >= 30) loaded.end(trial, End::completed);
  }
  CHECK(brackets == std::set<int>{0, 1, 2});
  CHECK(loaded.state() == feed.state());
}

TEST_CASE("ASHA: wrong arguments are errors that name them") {
  CHECK(complaint(asha_entry, {{"max_t", 5}, {"grace_period", 6}}) ==
        "ASHA.grace_period: must be at most max_t");
  CHECK(complaint(asha_entry, {{"max_t", 1e9}, {"rung_increment", 1}}) ==
        "ASHA.rung_increment: it makes more than 10000 rungs");
  for (const char* levels : {"", ",", "1,", "1,1", "3,1", "0", "-1", "1;2", "1,x", "1.5", "1,101",
                             "99999999999999999999", "1 2"}) {
    CAPTURE(levels);
    CHECK(complaint(asha_entry, {{"rung_levels", levels}}).starts_with("ASHA.rung_levels: "));
  }
  CHECK(complaint(asha_entry, {{"rung_levels", "100"}}).empty());
  CHECK(complaint(asha_entry, {{"rung_levels", "1 , 3"}}).empty());
  CHECK(complaint(asha_entry, {{"rung_levels", "1,3"}, {"rung_increment", 2}}) ==
        "ASHA.rung_levels: rung_increment says another thing; give one of them");
  for (const json& args : {json{{"max_t", 1.5}}, json{{"reduction_factor", 1.9}}}) {
    CHECK(complaint(asha_entry, args).starts_with("ASHA"));
  }
}

}  // namespace asha_test
}  // namespace attune
