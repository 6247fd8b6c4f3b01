#include <cmath>

#include "base/saved_numbers.h"
#include "tests/support/assessor_feed.h"
#include "tests/support/scheduler_traces.h"

namespace attune {
extern const AssessorEntry median_stopping_entry;
}

namespace attune::median_stopping_test {

AssessorFeed feed(json arguments, Context context = {}) {
  const json small = {
      {"optimize_mode", "minimize"}, {"grace_period", 1}, {"min_samples_required", 2}};
  for (const auto& [key, value] : small.items()) {
    if (!arguments.contains(key)) arguments[key] = value;
  }
  return AssessorFeed(median_stopping_entry, std::move(arguments), std::move(context));
}

// The recordings of 2018 need nothing that an assessor does not know. (Those of 2024 need the
// trials that wait; tests/rungs/median_rule_test.cpp replays them.)
TEST_CASE("MedianStoppingRule: with rule ray_2018 the decisions are those of Ray Tune 2018") {
  for (const auto& path : traces("ray18_median_")) {
    CAPTURE(path);
    const json trace = read_trace(path);
    const json& args = trace["args"];
    Context context;
    context.objectives = {{args["reward_attr"], true}};
    AssessorFeed feed(median_stopping_entry,
                      {{"rule", "ray_2018"},
                       {"grace_period", args["grace_period"]},
                       {"min_samples_required", args["min_samples_required"]},
                       {"hard_stop", args["hard_stop"]}},
                      context);
    int calls = 0;
    for (const json& event : trace["events"]) {
      const std::string kind = event[0];
      if (kind == "add" || kind == "start") continue;
      if (++calls % 1000 == 0) feed.reload();
      CAPTURE(event.dump());
      const TrialId trial = std::stoi(event[1].get<std::string>());
      const Metrics metrics = {{"acc", event[3]}, {"training_iteration", event[2]}};
      const Action action = feed.metrics(trial, metrics).action;
      if (kind == "complete") {
        feed.end(trial, End::completed);
        continue;
      }
      REQUIRE(kind == "result");
      REQUIRE((action == Action::stop    ? "STOP"
               : action == Action::pause ? "PAUSE"
                                         : "CONTINUE") == event[4]);
      if (action == Action::stop) feed.end(trial, End::stopped);
    }
    CHECK(calls > 1000);
  }
}

TEST_CASE("MedianStoppingRule: the best result against the median of means at the same time") {
  AssessorFeed rule = feed({});
  rule.run(0, {1, 3, 2});           // means 1, 2, 2
  rule.run(1, {2, 2, 2});           // means 2, 2, 2
  CHECK_FALSE(rule.stops(2, 1.5));  // the median of 1 and 2
  CHECK(rule.stops(3, 1.6));
  CHECK_FALSE(rule.stops(2, 9));  // the best is still 1.5
  rule.reload();
  CHECK_FALSE(rule.stops(2, 9));
  CHECK_FALSE(rule.stops(2, 9));  // nobody else got as far
}

TEST_CASE("MedianStoppingRule: other directions, metrics and times") {
  Context context;
  context.objectives = {{"acc", false}};  // its direction is the assessor's optimize_mode
  AssessorFeed rule = feed({{"optimize_mode", "maximize"}, {"time_attr", "seconds"}}, context);
  const auto report = [&](TrialId trial, double seconds, double acc) {
    return rule.metrics(trial, {{"seconds", seconds}, {"default", 0}, {"acc", acc}});
  };
  for (TrialId trial = 0; trial < 3; ++trial) {
    report(trial, 0.5, 0);  // before the grace period: not in the means
    report(trial, 10.5, 0.5 + 0.1 * double(trial));
    rule.end(trial, End::completed);
  }
  const Decision stop = report(3, 10.5, 0.55);
  CHECK(stop.action == Action::stop);
  CHECK_FALSE(stop.complete);
  CHECK(stop.reason ==
        "seconds 10.5: best 0.55 is below 0.6, the median of the means of 3 other trials");
  CHECK(report(4, 10.5, 0.6).action == Action::keep_going);
  CHECK(report(5, 11, 0.1).action == Action::keep_going);    // nobody was as late
  CHECK(report(6, 10.2, 0.1).action == Action::keep_going);  // nobody has a result in 1 ... 10.2
  CHECK(rule.metrics(7, {{"acc", 0.1}}).action == Action::keep_going);  // no time
  CHECK(report(7, 10.5, NAN).action == Action::keep_going);
  CHECK(rule.metrics(7, {{"seconds", 10.5}}).action == Action::keep_going);
}

TEST_CASE("MedianStoppingRule: results count whatever the end, in 2018 those of completed trials") {
  const End end = GENERATE(End::completed, End::failed, End::stopped, End::diverged);
  const bool old = GENERATE(false, true);
  AssessorFeed rule = feed({{"rule", old ? "ray_2018" : "ray"}, {"grace_period", 0}});
  for (TrialId trial = 0; trial < 3; ++trial) rule.run(trial, {1, 1}, end);
  CHECK(rule.stops(9, 2) == (!old || end == End::completed));
}

TEST_CASE("MedianStoppingRule: a soft-stopped trial pauses once and is never judged again") {
  AssessorFeed rule = feed({{"hard_stop", false}, {"min_samples_required", 3}});
  rule.run(0, {1, 1, 1, 1});
  rule.run(1, {1, 1, 1, 1});
  rule.run(3, {1});
  const Decision pause = rule.value(2, 2);
  CHECK(pause.action == Action::pause);
  CHECK(pause.reason ==
        "training_iteration 1: best 2 is above 1, the median of the means of 3 other trials");
  rule.reload();
  CHECK(rule.value(2, 3).action == Action::keep_going);
  CHECK(rule.rewrite(2, 0, 5).action == Action::keep_going);
  CHECK(rule.value(2, 0).action == Action::keep_going);
  // Its further results do not count, until it completes: then the last one does.
  const Metrics at_3 = {{"default", 2}, {"training_iteration", 3}};
  CHECK(rule.metrics(4, at_3).action == Action::keep_going);  // 2 others
  rule.reload();
  rule.end(2, End::completed);
  CHECK(rule.again(4).action == Action::pause);
}

TEST_CASE("MedianStoppingRule: a step that is reported again counts with its new value") {
  AssessorFeed rule = feed({});
  for (TrialId trial = 0; trial < 3; ++trial) rule.value(trial, 1);
  CHECK_FALSE(rule.stops(3, 0.5));
  CHECK(rule.rewrite(3, 0, 4).action == Action::stop);
  for (TrialId trial = 0; trial < 3; ++trial) rule.rewrite(trial, 0, 5);
  CHECK(rule.again(3).action == Action::keep_going);
}

TEST_CASE("MedianStoppingRule: several reports at once are judged in order") {
  AssessorFeed rule = feed({});
  rule.run(0, {1, 1, 1});
  rule.run(1, {1, 1, 1});
  const Decision stop = rule.values(2, {2, 0.5, 0.5});
  CHECK(stop.action == Action::stop);
  CHECK(stop.reason.starts_with("training_iteration 1: best 2 "));
  CHECK(rule.values(3, {1, 2, 3}).action == Action::keep_going);
}

TEST_CASE("MedianStoppingRule: a trial that runs anew is not compared with its former attempt") {
  AssessorFeed rule = feed({{"min_samples_required", 1}});
  rule.run(0, {1, 1}, End::failed);
  CHECK_FALSE(rule.stops(0, 2));
  CHECK(rule.stops(1, 3));  // the median is 2, not 1.5
  CHECK_FALSE(rule.stops(2, 2.2));
}

TEST_CASE("MedianStoppingRule: damaged trials are errors") {
  AssessorFeed rule = feed({{"hard_stop", false}});
  for (TrialId trial = 0; trial < 4; ++trial) rule.values(trial, {double(trial), 5});
  const json good = rule.assessor->save();
  const auto refused = [&](auto change) {
    json damaged = good;
    change(damaged);
    const bool error = !rule.assessor->load(damaged);
    return error && rule.assessor->save() == good;
  };
  CHECK(refused([](json& state) { state["live"][0]["seen"] = -1; }));
  CHECK(refused(
      [](json& state) { state["live"][0]["unrecorded"] = save_numbers(std::vector<double>{1}); }));
  CHECK(refused([](json& state) { state["live"][1]["trial"] = 0; }));
  CHECK(refused([](json& state) { state["rule"]["losses"] = 1; }));
}

}  // namespace attune::median_stopping_test
