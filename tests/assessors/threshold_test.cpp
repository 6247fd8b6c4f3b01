#include "tests/support/random_curves.h"

namespace attune {
extern const AssessorEntry threshold_entry;
}

namespace attune::threshold_test {

const double kInfinity = std::numeric_limits<double>::infinity();

TEST_CASE("Threshold: bounds, and what is not a number") {
  AssessorFeed rule(threshold_entry, {{"lower", -1}, {"upper", 2}});
  for (const double inside : {-1.0, 0.0, 2.0}) CHECK_FALSE(rule.stops(0, inside));
  rule.reload();
  for (const double beyond : {-1.1, 2.1, kInfinity, -kInfinity, double(NAN)}) {
    CHECK(rule.stops(0, beyond));
  }
  CHECK_FALSE(rule.value(0, 2.5).complete);
  CHECK(rule.value(0, 2.5).reason == "step 9: 2.5 is above 2");
  CHECK(rule.value(0, -3).reason == "step 10: -3 is below -1");
  CHECK(rule.value(0, NAN).reason == "step 11: the result is not a number");
}

TEST_CASE("Threshold: a bound may be missing, and both may") {
  AssessorFeed lower(threshold_entry, {{"lower", 0}, {"optimize_mode", "minimize"}});
  CHECK_FALSE(lower.stops(0, kInfinity));
  CHECK(lower.stops(0, -1));
  AssessorFeed none(threshold_entry, {});
  CHECK_FALSE(none.stops(0, -kInfinity));
  CHECK(none.stops(0, NAN));
}

TEST_CASE("Threshold: bounds that exclude everything are an error") {
  AssessorRegistry registry;
  registry.add(threshold_entry);
  const auto made = make_assessor(registry, "ThresholdPruner", {{"lower", 2}, {"upper", 1}}, {}, 0);
  REQUIRE_FALSE(made);
  CHECK(made.error().message == "Threshold.lower: it must not be above \"upper\"");
}

TEST_CASE("Threshold: the step may be a metric") {
  AssessorFeed rule(threshold_entry,
                    {{"upper", 2}, {"n_warmup_steps", 10}, {"step_attr", "epoch"}});
  CHECK_FALSE(rule.metrics(0, {{"default", 3}, {"epoch", 9}}).action == Action::stop);
  CHECK(rule.metrics(0, {{"default", 3}, {"epoch", 10}}).action == Action::stop);
}

TEST_CASE("Threshold: it is Optuna's rule computed from scratch") {
  const int warmup = GENERATE(0, 3), interval = GENERATE(1, 3);
  AssessorFeed rule(
      threshold_entry,
      {{"lower", -1.5}, {"upper", 1}, {"n_warmup_steps", warmup}, {"interval_steps", interval}});
  const int stops = RandomCurves().run(
      rule, 5, 1500, 5, [&](TrialId, const RandomCurves::Curve& curve, const auto&) {
        const int step = curve.rbegin()->first;
        const double value = curve.rbegin()->second;
        if (step < warmup) return false;
        for (int before = (step - warmup) / interval * interval + warmup; before < step; ++before) {
          if (curve.contains(before)) return false;  // the interval has been judged
        }
        return !(value >= -1.5 && value <= 1);
      });
  CHECK(stops > 30);
}

TEST_CASE("Threshold: several reports at once are judged in order") {
  AssessorFeed rule(threshold_entry, {{"upper", 2}});
  CHECK(rule.values(0, {1, 3, 1}).reason == "step 1: 3 is above 2");
  CHECK(rule.rewrite(0, 1, 2).action == Action::keep_going);
}

}  // namespace attune::threshold_test
