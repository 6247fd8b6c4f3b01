#include <cmath>
#include <map>

#include "base/saved_numbers.h"
#include "tests/support/assessor_feed.h"
#include "tests/support/scheduler_traces.h"

namespace attune {
extern const AssessorEntry msr_entry;
}

namespace attune::msr_test {

TEST_CASE("MSR: the decisions are those of Syne Tune") {
  for (const auto& path : traces("syne_msr_")) {
    CAPTURE(path);
    const json trace = read_trace(path);
    json arguments = trace["args"];
    arguments["optimize_mode"] = trace["mode"] == "max" ? "maximize" : "minimize";
    AssessorFeed feed(msr_entry, arguments);
    int results = 0;
    for (const json& event : trace["events"]) {
      const std::string kind = event[0];
      if (kind == "start") continue;
      CAPTURE(event.dump());
      const TrialId trial = event[1];
      if (kind == "complete") {
        feed.end(trial, End::completed);
        continue;
      }
      REQUIRE(kind == "result");
      if (++results % 300 == 0) feed.reload();
      const Metrics metrics = {{"default", event[3]}, {"epoch", event[2]}};
      const bool stops = feed.metrics(trial, metrics).action == Action::stop;
      REQUIRE(stops == (event[4] == "STOP"));
      if (stops) feed.end(trial, End::stopped);
    }
    CHECK(results > 400);
  }
}

AssessorFeed feed(json arguments = {}, Context context = {}) {
  if (!arguments.contains("optimize_mode")) arguments["optimize_mode"] = "minimize";
  return AssessorFeed(msr_entry, arguments, std::move(context));
}

TEST_CASE("MSR: a trial stops behind the best half of five, the equal ones not counted") {
  AssessorFeed rule = feed();
  for (TrialId trial = 0; trial < 4; ++trial) CHECK_FALSE(rule.stops(trial, double(trial)));
  const Decision stop = rule.value(4, 3);  // behind 3 of 5
  CHECK(stop.action == Action::stop);
  CHECK_FALSE(stop.complete);
  CHECK(stop.reason ==
        "training_iteration 1: mean 3 ranks behind 3 of 5 trials, the allowed share is 0.5");
  CHECK_FALSE(rule.stops(5, 2.5));  // behind 3 of 6
  CHECK_FALSE(rule.stops(6, 2));    // behind 2 of 7
  CHECK_FALSE(rule.stops(6, 9));    // alone at level 2
}

TEST_CASE("MSR: it is the rule computed from scratch") {
  const bool average = GENERATE(true, false);
  const bool maximize = GENERATE(true, false);
  AssessorFeed rule = feed({{"optimize_mode", maximize ? "maximize" : "minimize"},
                            {"running_average", average},
                            {"grace_time", 2},
                            {"grace_population", 4},
                            {"rank_cutoff", 0.6}});
  Rng rng(3);
  std::map<TrialId, std::vector<double>> results;
  int stops = 0;
  for (int call = 0; call < 3000; ++call) {
    const auto trial = static_cast<TrialId>(rng.index(4) + static_cast<std::size_t>(call / 30));
    auto& own = results[trial];
    const bool repeat = !own.empty() && rng.index(10) == 0;
    const std::size_t step = repeat ? rng.index(own.size()) : own.size();
    if (!repeat) own.emplace_back();
    own[step] = rng.index(15) == 0 ? NAN : std::round(4 * rng.normal()) / 4;
    const auto mean_at = [&](const std::vector<double>& of, std::size_t last) {
      double sum = 0;
      int count = 0;
      for (std::size_t i = average ? 0 : last; i <= last; ++i) {
        if (std::isnan(of[i])) continue;
        sum += maximize ? -of[i] : of[i];
        ++count;
      }
      return sum / count;
    };
    const std::size_t last = own.size() - 1;
    bool expected = false;
    if (!std::isnan(own[last]) && last + 1 >= 2) {
      std::size_t better = 0, all = 0;
      for (const auto& [other, its] : results) {
        if (its.size() <= last || std::isnan(its[last])) continue;
        ++all;
        better += mean_at(its, last) < mean_at(own, last);
      }
      expected = all >= 4 && static_cast<double>(better) / static_cast<double>(all) > 0.6;
    }
    const Decision found =
        repeat ? rule.rewrite(trial, step, own[step]) : rule.value(trial, own[step]);
    CAPTURE(call, trial, step);
    REQUIRE((found.action == Action::stop) == expected);
    stops += expected;
    if (call % 400 == 399) rule.reload();
  }
  CHECK(stops > 100);
}

TEST_CASE("MSR: several reports at once are judged in order, and results count whatever the end") {
  AssessorFeed rule = feed({{"grace_population", 3}});
  rule.run(0, {0, 0}, End::failed);
  rule.run(1, {0, 0}, End::stopped);
  const Decision stop = rule.values(2, {1, 9, 0});
  CHECK(stop.reason.starts_with("training_iteration 1: mean 1 "));
  rule.run(3, {0, 0}, End::diverged);
  CHECK_FALSE(rule.stops(4, 0));
  CHECK(rule.stops(4, 1));  // the mean 0.5 ranks behind 3 of 5
}

TEST_CASE("MSR: reports without a usable level or result are nothing") {
  Context context;
  context.objectives = {{"acc", true}};
  AssessorFeed rule = feed({{"resource_attr", "epoch"}, {"grace_population", 2}}, context);
  const std::string before = dump_json(rule.assessor->save()["means"]);
  for (const Metrics& metrics : {Metrics{{"acc", 1}}, Metrics{{"acc", 1}, {"epoch", NAN}},
                                 Metrics{{"acc", 1}, {"epoch", -1}}, Metrics{{"epoch", 1}},
                                 Metrics{{"acc", INFINITY}, {"epoch", 1}}}) {
    CHECK(rule.metrics(0, metrics).action == Action::keep_going);
  }
  CHECK(dump_json(rule.assessor->save()["means"]) == before);
}

TEST_CASE("MSR: means that overflow do not count") {
  AssessorFeed rule = feed({{"grace_population", 2}});
  rule.values(0, {1e308, 1e308});
  rule.values(1, {-1e308, -1e308});
  CHECK(rule.value(0, 1e308).action == Action::keep_going);
  CHECK(rule.rewrite(0, 1, 5).action == Action::keep_going);
  rule.reload();
}

TEST_CASE("MSR: damaged states are errors") {
  AssessorFeed rule = feed();
  for (TrialId trial = 0; trial < 3; ++trial) rule.values(trial, {1, 2});
  const json good = rule.assessor->save();
  const auto refused = [&](auto change) {
    json damaged = good;
    change(damaged);
    const bool error = !rule.assessor->load(damaged);
    return error && rule.assessor->save() == good;
  };
  const auto packed = [](std::vector<double> values) { return save_numbers(values); };
  CHECK(refused([&](json& state) { state["levels"] = packed({1, 1}); }));
  CHECK(refused([&](json& state) { state["levels"] = packed({1}); }));
  CHECK(refused([&](json& state) { state["counts"] = packed({3, 4}); }));
  CHECK(refused([&](json& state) { state["counts"] = packed({3, 2}); }));
  CHECK(refused([&](json& state) { state["counts"] = packed({3, NAN}); }));
  CHECK(refused([&](json& state) { state["counts"] = packed({6, 0}); }));
  CHECK(refused([&](json& state) { state["means"] = packed({1, 1, 1, 1, NAN, 1}); }));
  CHECK(refused([&](json& state) { state["live"][0]["seen"] = 1; }));
  CHECK(refused([&](json& state) { state["live"][0]["losses"] = packed({1}); }));
  CHECK(refused([&](json& state) { state["live"][1]["trial"] = 0; }));
}

}  // namespace attune::msr_test
