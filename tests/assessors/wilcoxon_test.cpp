#include <algorithm>
#include <cmath>

#include "base/saved_numbers.h"
#include "math/wilcoxon.h"
#include "tests/support/random_curves.h"

namespace attune {
extern const AssessorEntry wilcoxon_entry;
}

namespace attune::wilcoxon_pruner_test {

TEST_CASE("Wilcoxon: a trial stops when it is worse at enough steps of the best trial") {
  AssessorFeed rule(wilcoxon_entry, {{"optimize_mode", "minimize"}});
  CHECK_FALSE(rule.stops(0, 9));  // there is no best trial yet
  rule.run(1, {1, 2, 3, 4, 5});
  rule.run(2, {2, 3, 4, 5, 6});  // not the best
  rule.reload();
  CHECK_FALSE(rule.stops(3, 3));
  CHECK_FALSE(rule.stops(3, 3.25));
  CHECK_FALSE(rule.stops(3, 4.75));  // p = 0.125
  const Decision stop = rule.value(3, 5.5);
  CHECK(stop.action == Action::stop);
  CHECK_FALSE(stop.complete);
  CHECK(stop.reason ==
        "step 3: mean 4.125 against 3 of the best trial; worse at 4 common steps with p = "
        "0.0625");
}

TEST_CASE("Wilcoxon: a trial whose mean is as good as the best trial's goes on") {
  AssessorFeed rule(wilcoxon_entry, {{"optimize_mode", "maximize"}});
  rule.run(0, {5, 5, 5, 5, 0});                                 // mean 4
  for (int i = 0; i < 4; ++i) CHECK_FALSE(rule.stops(1, 4.5));  // worse at all steps
  for (int i = 0; i < 3; ++i) CHECK_FALSE(rule.stops(2, 3.5));
  CHECK(rule.stops(2, 3.5));
}

TEST_CASE("Wilcoxon: steps in common, startup steps, and results that are not finite") {
  AssessorFeed rule(wilcoxon_entry,
                    {{"optimize_mode", "minimize"}, {"n_startup_steps", 5}, {"p_threshold", 0.2}});
  rule.run(0, {0, 0, 0, NAN});  // never the best
  rule.run(1, {1, 1, 1, 1, 1});
  for (int i = 0; i < 2; ++i) CHECK_FALSE(rule.stops(2, 2));
  CHECK_FALSE(rule.metrics(2, {{"other", 1}}).action == Action::stop);
  for (int i = 0; i < 5; ++i) CHECK_FALSE(rule.stops(2, 2));  // four steps in common
  for (int i = 0; i < 4; ++i) CHECK_FALSE(rule.stops(3, 2));
  CHECK(rule.stops(3, 2));
  CHECK_FALSE(rule.stops(3, INFINITY));
  CHECK_FALSE(rule.stops(3, 2));
}

TEST_CASE("Wilcoxon: only completed trials can be the best") {
  const End end = GENERATE(End::failed, End::stopped, End::diverged);
  AssessorFeed rule(wilcoxon_entry, {{"optimize_mode", "minimize"}});
  rule.run(0, {1, 1, 1, 1, 1}, end);
  CHECK(rule.values(1, {2, 2, 2, 2, 2}).action == Action::keep_going);
}

TEST_CASE("Wilcoxon: it is Optuna's rule computed from scratch") {
  const bool maximize = GENERATE(true, false);
  const double sign = maximize ? -1 : 1;
  AssessorFeed rule(wilcoxon_entry, {{"optimize_mode", maximize ? "maximize" : "minimize"},
                                     {"p_threshold", 0.3},
                                     {"n_startup_steps", 0}});
  const auto mean = [&](const RandomCurves::Curve& curve) {
    double sum = 0;
    for (const auto& [step, value] : curve) sum += value;
    return sign * sum / static_cast<double>(curve.size());
  };
  const auto is_finite = [](const RandomCurves::Curve& curve) {
    return !curve.empty() && std::ranges::all_of(curve, [](const auto& point) {
      return std::isfinite(point.second);
    });
  };
  const int stops = RandomCurves().run(
      rule, 12, 4000, 1, [&](TrialId, const RandomCurves::Curve& curve, const auto& completed) {
        const RandomCurves::Curve* best = nullptr;
        for (const auto& [trial, other] : completed) {
          if (is_finite(other) && (!best || mean(other) < mean(*best))) best = &other;
        }
        if (!best || !is_finite(curve) || mean(curve) <= mean(*best)) return false;
        std::vector<double> differences;
        for (const auto& [step, value] : curve) {
          if (best->contains(step)) differences.push_back(sign * (value - best->at(step)));
        }
        return differences.size() >= 2 && signed_rank_test(differences) < 0.3;
      });
  CHECK(stops > 30);
}

TEST_CASE("Wilcoxon: the step may be a metric") {
  AssessorFeed rule(wilcoxon_entry, {{"optimize_mode", "minimize"}, {"step_attr", "fold"}});
  const auto report = [&](TrialId trial, double fold, double x) {
    return rule.metrics(trial, {{"default", x}, {"fold", fold}}).action;
  };
  for (const double fold : {3.0, 1.0, 9.0, 5.0, 7.0}) report(0, fold, 1);
  rule.end(0, End::completed);
  for (const double fold : {2.0, 4.0, 6.0, 8.0}) CHECK(report(1, fold, 2) == Action::keep_going);
  for (const double fold : {9.0, 3.0, 5.0}) CHECK(report(2, fold, 2) == Action::keep_going);
  CHECK(report(2, 7, 2) == Action::stop);
}

TEST_CASE("Wilcoxon: several reports at once are judged in order") {
  AssessorFeed rule(wilcoxon_entry, {{"optimize_mode", "minimize"}});
  rule.run(0, {1, 1, 1, 1, 1});
  CHECK(rule.values(1, {2, 2, 2, 2, 0}).reason.starts_with("step 3: mean 2 against 1 "));
}

TEST_CASE("Wilcoxon: damaged states are errors") {
  AssessorFeed rule(wilcoxon_entry, {});
  rule.run(0, {1, 2, 3});
  rule.value(1, 1);
  const json good = rule.assessor->save();
  const auto refused = [&](auto change) {
    json damaged = good;
    change(damaged);
    const bool error = !rule.assessor->load(damaged);
    return error && rule.assessor->save() == good;
  };
  const auto packed = [](std::vector<double> values) { return save_numbers(values); };
  CHECK(refused([&](json& state) { state["best_values"] = packed({1, NAN, 3}); }));
  CHECK(refused([&](json& state) { state["best_values"] = packed({1, 2}); }));
  CHECK(refused([&](json& state) { state["best_steps"] = packed({0, 2, 2}); }));
  CHECK(refused([&](json& state) { state["best_steps"] = packed({0, 0.5, 2}); }));
  CHECK(refused([&](json& state) { state["best"] = "first"; }));
}

}  // namespace attune::wilcoxon_pruner_test
