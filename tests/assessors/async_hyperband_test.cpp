#include <cmath>

#include "tests/assessors/rung_feed.h"
#include "tests/support/scheduler_traces.h"

namespace attune {

extern const AssessorEntry async_hyperband_entry;

namespace async_hyperband_test {

// The recorded arguments in our names. Those of 2018 have other names, and only maximise.
json arguments_of(const json& trace, const std::string& rule) {
  json args = {{"rule", rule}, {"optimize_mode", "maximize"}};
  for (const auto& [key, value] : trace["args"].items()) {
    if (key == "mode") {
      args["optimize_mode"] = value == "max" ? "maximize" : "minimize";
    } else if (key == "do_minimize") {
      args["optimize_mode"] = value ? "minimize" : "maximize";
    } else if (key != "metric" && key != "reward_attr") {
      args[key] = value;
    }
  }
  return args;
}

// All traces with one bracket: nothing is drawn, so that the whole assessor can be replayed.
int replay(const std::string& prefix, const std::string& rule) {
  int decisions = 0;
  for (const auto& path : traces(prefix)) {
    CAPTURE(path);
    const json trace = read_trace(path);
    const json args = arguments_of(trace, rule);
    if (args["brackets"] != 1) continue;
    const std::string metric =
        trace["args"].contains("metric") ? trace["args"]["metric"] : trace["args"]["reward_attr"];
    RungFeed feed(async_hyperband_entry, args, {{.metric = metric}});
    for (const json& event : trace["events"]) {
      CAPTURE(event.dump());
      if (event[0] == "add" || event[0] == "start" || event[0] == "complete_after_stop") continue;
      const TrialId trial =
          event[1].is_string() ? std::stoi(event[1].get<std::string>()) : event[1].get<TrialId>();
      const Decision decision =
          feed.report(trial, {{args["time_attr"], event[2]}, {metric, event[3]}});
      if (event[0] == "complete") {
        feed.end(trial, End::completed);
        continue;
      }
      REQUIRE((decision.action == Action::stop ? "STOP" : "CONTINUE") == event[4]);
      if (++decisions % 97 == 0) feed.restart();
      if (decision.action == Action::stop) feed.end(trial, End::stopped);
    }
  }
  return decisions;
}

TEST_CASE("AsyncHyperBand: recordings of one bracket, through the assessor and its states") {
  CHECK(replay("ray_asha_", "percentile") >= 900);
  CHECK(replay("ray18_asha_", "percentile") >= 300);
  CHECK(replay("syne015_asha_", "rank") >= 300);
}

TEST_CASE("AsyncHyperBand: reasons name the numbers, in the user's sign") {
  RungFeed feed(async_hyperband_entry, {{"optimize_mode", "maximize"}, {"reduction_factor", 2}});
  for (const TrialId trial : {0, 1, 2}) feed.report(trial, 0.7 + 0.1 * double(trial));
  const Decision decision = feed.report(3, 0.75);
  CHECK(decision.reason == "rung 1: 0.75 ranks 3 of 4; the best 50 % end at 0.8");
  CHECK_FALSE(decision.complete);

  RungFeed rank(async_hyperband_entry, {{"rule", "rank"}});
  rank.report(0, 1);
  CHECK(rank.report(1, 2).reason == "rung 1: 2 ranks 2 of 2; the best 25 % go on");
}

TEST_CASE("AsyncHyperBand: a trial that has used max_t is complete") {
  RungFeed feed(async_hyperband_entry, {{"max_t", 3}, {"time_attr", "seconds"}});
  CHECK_FALSE(feed.report(0, {{"default", 1}, {"seconds", 2.5}}).complete);
  const Decision decision = feed.report(0, {{"default", 1}, {"seconds", 3.5}});
  CHECK(decision.action == Action::stop);
  CHECK(decision.complete);
  CHECK(decision.reason == "has used its full resource: 3.5 of 3");

  RungFeed endless(async_hyperband_entry, {{"max_t", 3}, {"stop_last_trials", false}});
  for (int step = 0; step < 10; ++step) CHECK_FALSE(endless.stops(0, 1));
}

TEST_CASE("AsyncHyperBand: reports that come together are judged one after the other") {
  RungFeed feed(async_hyperband_entry, {});
  for (int step = 0; step < 4; ++step) feed.report(0, 1);
  for (int step = 0; step < 2; ++step) feed.add(1, {{"default", 0.5}});
  feed.add(1, {{"default", 0.6}});
  CHECK_FALSE(feed.stops(1, 0.9));  // rung 4 has 1; rung 1 got the first of them
  feed.add(2, {{"default", 0.7}});
  CHECK(feed.report(2, 0.1).reason == "rung 1: 0.7 ranks 2 of 3; the best 25 % end at 0.625");
}

TEST_CASE("AsyncHyperBand: a step that is reported again changes nothing") {
  RungFeed feed(async_hyperband_entry, {});
  CHECK_FALSE(feed.stops(0, 1));
  const std::string before = dump_json(feed.state());
  CHECK(feed.rewrite(0, 0, 100).action == Action::keep_going);
  CHECK(dump_json(feed.state()) == before);
  CHECK(feed.stops(1, 2));  // compared with 1
}

TEST_CASE("AsyncHyperBand: reports without the metric or a usable resource fill no rung") {
  RungFeed feed(async_hyperband_entry, {{"time_attr", "t"}});
  const json rungs = feed.state()["rungs"];
  for (const Metrics& metrics :
       {Metrics{{"t", 1}}, Metrics{{"default", 1}}, Metrics{{"default", 1}, {"t", NAN}},
        Metrics{{"default", 1}, {"t", -1}}, Metrics{}}) {
    CHECK(feed.report(0, metrics).action == Action::keep_going);
  }
  CHECK(feed.state()["rungs"] == rungs);
  feed.report(0, {{"default", 1}, {"t", 1}});
  CHECK(feed.state()["rungs"] != rungs);
}

TEST_CASE("AsyncHyperBand: however a trial ends, its results stay and the trial is forgotten") {
  const End end = GENERATE(End::completed, End::failed, End::stopped, End::diverged);
  RungFeed feed(async_hyperband_entry, {});
  feed.report(0, 1);
  const json rungs = feed.state()["rungs"];
  feed.end(0, end);
  CHECK(feed.state()["rungs"] == rungs);
  CHECK(feed.state()["trials"].empty());
  CHECK(feed.stops(1, 2));
  CHECK(feed.stops(0, 3));  // the same id again is a new trial
}

TEST_CASE("AsyncHyperBand: brackets are drawn at the first report, and go through a state") {
  const json args = {{"brackets", 3}, {"max_t", 81}, {"reduction_factor", 3}};
  RungFeed feed(async_hyperband_entry, args, {}, 7), loaded(async_hyperband_entry, args, {}, 8);
  Rng rng(1);
  std::vector<int> counts(3);
  for (TrialId trial = 0; trial < 900; ++trial) {
    const double value = rng.normal();
    if (trial == 300) REQUIRE(loaded.load(through_text(feed.state())));
    const Decision decision = feed.report(trial, value);
    ++counts[feed.state()["trials"].back()["bracket"].get<std::size_t>()];
    if (trial >= 300) {
      CHECK(loaded.report(trial, value).reason == decision.reason);
      CHECK(loaded.state() == feed.state());
      loaded.end(trial, End::completed);
    }
    feed.end(trial, End::completed);
  }
  // In proportion to e^0, e^-1 and e^-2.
  CHECK(counts[0] == Approx(599).margin(45));
  CHECK(counts[1] == Approx(220).margin(45));
  CHECK(counts[2] == Approx(81).margin(30));
}

TEST_CASE("AsyncHyperBand: damaged trials of a state are errors") {
  RungFeed feed(async_hyperband_entry, {});
  feed.report(0, 1);
  feed.report(1, 2);
  const json good = feed.state();
  REQUIRE(feed.load(good));
  const auto refused = [&](const std::string& key, const json& value) {
    json damaged = good;
    damaged["trials"][0][key] = value;
    CAPTURE(key, value.dump());
    CHECK_FALSE(feed.load(damaged));
    damaged["trials"][0].erase(key);
    CHECK_FALSE(feed.load(damaged));
  };
  refused("trial", 1);  // twice
  refused("judged", -1);
  refused("bracket", 1);
  refused("bracket", -1);
  refused("passed", "AAAAAAAAKEA=");  // 12
  refused("passed", "AAAAAAAA8L8=");  // -1
  json damaged = good;
  damaged["trials"][0] = 5;
  CHECK_FALSE(feed.load(damaged));
  CHECK(feed.state() == good);
}

TEST_CASE("AsyncHyperBand: wrong arguments are errors that name them") {
  CHECK(complaint(async_hyperband_entry, {{"max_t", 5}, {"grace_period", 6}}) ==
        "AsyncHyperBand.grace_period: must be at most max_t");
  for (const json& args : {json{{"max_t", 0}}, json{{"grace_period", 0}}, json{{"brackets", 0}},
                           json{{"reduction_factor", 1}}, json{{"rule", "x"}}}) {
    CHECK(complaint(async_hyperband_entry, args).starts_with("AsyncHyperBand"));
  }
  CHECK(complaint(async_hyperband_entry, {{"grace_period", 2.5}, {"max_t", 2.5}}).empty());
}

}  // namespace async_hyperband_test
}  // namespace attune
