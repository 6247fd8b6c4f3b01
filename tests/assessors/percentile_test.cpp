#include <algorithm>

#include "base/saved_numbers.h"
#include "tests/support/random_curves.h"

namespace attune {
extern const AssessorEntry percentile_entry;
extern const AssessorEntry median_pruner_entry;
}  // namespace attune

namespace attune::percentile_pruner_test {

TEST_CASE("Percentile: the best result against the percentile at the same step") {
  AssessorFeed rule(percentile_entry, {{"optimize_mode", "minimize"}, {"n_startup_trials", 4}});
  for (TrialId trial = 0; trial < 4; ++trial) {
    CHECK_FALSE(rule.stops(trial, double(trial)));
    CHECK_FALSE(rule.stops(trial, 10 - double(trial)));
    rule.end(trial, End::completed);
  }
  json former = rule.assessor->save();
  const json columns = former["steps"];
  former.erase("steps");  // as it was before step_attr
  for (const char* key : {"values", "reported"}) former[key] = columns[key];
  REQUIRE(rule.assessor->load(former).has_value());
  rule.reload();
  CHECK_FALSE(rule.stops(4, 0.75));  // the first quarter of 0, 1, 2, 3 ends there
  const Decision stop = rule.value(5, 0.76);
  CHECK(stop.action == Action::stop);
  CHECK_FALSE(stop.complete);
  CHECK(stop.reason == "step 0: best 0.76 is above 0.75, the percentile 25 of 4 completed trials");
  CHECK_FALSE(rule.stops(4, 99));  // the best is 0.75, below 7.75
  CHECK_FALSE(rule.stops(4, 99));  // no completed trial has step 2
}

TEST_CASE("Percentile: of a maximised metric the upper end counts") {
  AssessorFeed rule(percentile_entry, {{"optimize_mode", "maximize"}, {"n_startup_trials", 1}});
  for (TrialId trial = 0; trial < 5; ++trial) rule.run(trial, {double(trial)});
  CHECK_FALSE(rule.stops(5, 3));
  CHECK(rule.value(6, 2.9).reason ==
        "step 0: best 2.9 is below 3, the percentile 75 of 5 completed trials");
}

TEST_CASE("MedianPruner is the percentile 50") {
  AssessorFeed rule(median_pruner_entry, {{"optimize_mode", "minimize"}});
  for (TrialId trial = 0; trial < 5; ++trial) {
    CHECK_FALSE(rule.stops(trial, double(trial)));
    rule.end(trial, End::completed);
  }
  CHECK_FALSE(rule.stops(5, 2));
  CHECK(rule.stops(6, 2.1));
}

TEST_CASE("Percentile: only completed trials count") {
  const End end = GENERATE(End::failed, End::stopped, End::diverged);
  AssessorFeed rule(percentile_entry, {{"optimize_mode", "minimize"}, {"n_startup_trials", 0}});
  rule.run(0, {1}, end);
  CHECK_FALSE(rule.stops(1, 2));
  rule.run(2, {1});
  CHECK(rule.stops(1, 2) == false);  // trial 2 has no step 1
  CHECK(rule.stops(3, 2));
}

TEST_CASE("Percentile: the step may be a metric") {
  AssessorFeed rule(median_pruner_entry, {{"optimize_mode", "minimize"},
                                          {"n_startup_trials", 1},
                                          {"n_warmup_steps", 20},
                                          {"step_attr", "epoch"}});
  const auto stops = [&](TrialId trial, double epoch, double x) {
    return rule.metrics(trial, {{"default", x}, {"epoch", epoch}}).action == Action::stop;
  };
  for (const double epoch : {10.0, 20.0, 1e9}) CHECK_FALSE(stops(0, epoch, 1));
  rule.reload();
  rule.end(0, End::completed);
  rule.reload();
  CHECK_FALSE(stops(1, 10, 2));  // before the warm-up ends
  CHECK_FALSE(stops(1, 25, 2));  // no completed trial has this step
  CHECK(stops(2, 20, 2));
  CHECK(rule.metrics(3, {{"default", 2}, {"epoch", 1e9}}).reason ==
        "step 1000000000: best 2 is above 1, the percentile 50 of 1 completed trials");
  for (const double no_step : {19.5, -1.0, double(NAN), double(INFINITY)}) {
    CHECK_FALSE(stops(4, no_step, 2));
  }
  CHECK_FALSE(rule.stops(4, 2));
  CHECK_FALSE(stops(4, 21, 2));
  CHECK_FALSE(stops(4, 20, 2));  // the trial is at step 21
  CHECK(stops(4, 1e9, 2));
  CHECK_FALSE(stops(5, 20, 0.5));
  CHECK_FALSE(stops(5, 20, 9));   // a step counts once
  CHECK_FALSE(stops(5, 1e9, 9));  // the best is 0.5
}

double numpy_percentile(std::vector<double> values, double percent) {
  std::ranges::sort(values);
  const double at = percent / 100 * static_cast<double>(values.size() - 1);
  const double below = std::floor(at);
  const double low = values[static_cast<std::size_t>(below)];
  const double high = values[static_cast<std::size_t>(std::ceil(at))];
  if (low == high || at == below) return low;
  const double share = at - below;  // beside an infinite number the halves differ
  return share < 0.5 ? low + (high - low) * share : high - (high - low) * (1 - share);
}

TEST_CASE("Percentile: it is Optuna's rule computed from scratch") {
  const bool maximize = GENERATE(true, false);
  const int warmup = GENERATE(0, 2), interval = GENERATE(1, 3);
  const int min_trials = warmup == 0 ? 1 : 7;
  const double percentile = interval == 1 ? 25 : 62.5;  // exact in binary, as the values are
  AssessorFeed rule(percentile_entry, {{"optimize_mode", maximize ? "maximize" : "minimize"},
                                       {"percentile", percentile},
                                       {"n_startup_trials", 4},
                                       {"n_warmup_steps", warmup},
                                       {"interval_steps", interval},
                                       {"n_min_trials", min_trials}});
  const int stops = RandomCurves().run(
      rule, 7, 5000, 6, [&](TrialId, const RandomCurves::Curve& curve, const auto& completed) {
        const int step = curve.rbegin()->first;
        if (completed.size() < 4 || step < warmup) return false;
        for (int before = (step - warmup) / interval * interval + warmup; before < step; ++before) {
          if (curve.contains(before)) return false;
        }
        std::vector<double> own, others;
        for (const auto& [at, value] : curve) {
          if (!std::isnan(value)) own.push_back(value);
        }
        if (own.empty()) return true;
        int reported = 0;
        for (const auto& [trial, other] : completed) {
          const auto found = other.find(step);
          if (found == other.end()) continue;
          ++reported;
          if (!std::isnan(found->second)) others.push_back(found->second);
        }
        if (reported < min_trials || others.empty()) return false;
        if (maximize) {
          return std::ranges::max(own) < numpy_percentile(others, 100 - percentile);
        }
        return std::ranges::min(own) > numpy_percentile(others, percentile);
      });
  CHECK(stops > 20);
}

TEST_CASE("Percentile: several reports at once are judged in order") {
  AssessorFeed rule(percentile_entry, {{"optimize_mode", "minimize"}, {"n_startup_trials", 1}});
  rule.run(0, {1, 1, 1});
  CHECK(rule.values(1, {2, 0, 0}).reason.starts_with("step 0: best 2 "));
  CHECK(rule.values(2, {NAN, NAN}).reason == "step 0: no result so far is a number");
}

TEST_CASE("Percentile: damaged states are errors") {
  AssessorFeed rule(percentile_entry, {});
  for (TrialId trial = 0; trial < 3; ++trial) rule.run(trial, {1, 2});
  rule.values(7, {1, 2, 3});
  const json good = rule.assessor->save();
  const auto refused = [&](auto change) {
    json damaged = good;
    change(damaged);
    const bool error = !rule.assessor->load(damaged);
    return error && rule.assessor->save() == good;
  };
  const auto packed = [](std::vector<double> values) { return save_numbers(values); };
  CHECK(refused([&](json& state) { state["completed"] = 2; }));
  CHECK(refused([&](json& state) { state["completed"] = -1; }));
  CHECK(refused([&](json& state) { state["steps"]["reported"] = packed({3}); }));
  CHECK(refused([&](json& state) { state["steps"]["reported"] = packed({3, 2}); }));
  CHECK(refused([&](json& state) { state["steps"]["values"][0] = packed({1, NAN}); }));
  CHECK(refused([&](json& state) { state["steps"]["values"][0] = 1; }));
  CHECK(refused([&](json& state) { state["steps"]["at"] = packed({0, 0}); }));
  CHECK(refused([&](json& state) { state["steps"]["at"] = packed({0, 0.5}); }));
  CHECK(refused([&](json& state) { state["steps"].erase("at"); }));
  CHECK(refused([&](json& state) { state["live"][0]["seen"] = 2; }));
  CHECK(refused([&](json& state) { state["live"][0]["seen"] = -2; }));
  CHECK(refused([&](json& state) { state["live"][0]["steps"] = packed({0, 2, 1}); }));
  CHECK(refused([&](json& state) { state["live"][0]["steps"] = packed({0, 1}); }));
  CHECK(refused([&](json& state) { state["live"].push_back(state["live"][0]); }));
}

}  // namespace attune::percentile_pruner_test
