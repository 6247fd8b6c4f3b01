#include <algorithm>

#include "tests/support/random_curves.h"

namespace attune {
extern const AssessorEntry patient_entry;
}

namespace attune::patient_test {

TEST_CASE("Patient: a trial stops after patience + 1 results that are worse") {
  AssessorFeed rule(patient_entry, {{"optimize_mode", "minimize"}, {"patience", 2}});
  for (const double x : {3.0, 1.0, 1.5, 1.0, 1.5, 1.25}) CHECK_FALSE(rule.stops(0, x));
  rule.reload();
  const Decision stop = rule.value(0, 2);
  CHECK(stop.action == Action::stop);
  CHECK_FALSE(stop.complete);
  CHECK(stop.reason ==
        "step 6: the best of the last 3 results, 1.25, is worse than the best so far, 1, by more "
        "than 0");
  CHECK_FALSE(rule.stops(0, 1));  // as good is not worse
}

TEST_CASE("Patient: worse by min_delta or less is not worse") {
  AssessorFeed rule(patient_entry,
                    {{"optimize_mode", "maximize"}, {"patience", 0}, {"min_delta", 0.5}});
  CHECK_FALSE(rule.stops(0, 2));
  CHECK_FALSE(rule.stops(0, 1.5));
  CHECK(rule.value(0, 1.25).reason ==
        "step 2: the best of the last 1 results, 1.25, is worse than the best so far, 2, by more "
        "than 0.5");
}

// Optuna's words: the best of the earlier scores against the best of the last patience + 1.
bool impatient(const RandomCurves::Curve& curve, std::size_t patience, double delta,
               bool maximize) {
  std::vector<double> values;
  for (const auto& [step, value] : curve) values.push_back(value);
  if (values.size() <= patience + 1) return false;
  const auto middle = values.end() - static_cast<std::ptrdiff_t>(patience) - 1;
  const auto best = [&](auto from, auto to) {
    double found = NAN;
    for (; from != to; ++from) found = maximize ? std::fmax(found, *from) : std::fmin(found, *from);
    return found;
  };
  const double before = best(values.begin(), middle), after = best(middle, values.end());
  return maximize ? before - delta > after : before + delta < after;
}

TEST_CASE("Patient: it is Optuna's rule computed from scratch") {
  const bool maximize = GENERATE(true, false);
  const double delta = GENERATE(0.0, 0.5);
  AssessorFeed rule(patient_entry, {{"optimize_mode", maximize ? "maximize" : "minimize"},
                                    {"patience", 2},
                                    {"min_delta", delta}});
  const int stops = RandomCurves().run(rule, 9, 2500, 8,
                                       [&](TrialId, const RandomCurves::Curve& curve, const auto&) {
                                         return impatient(curve, 2, delta, maximize);
                                       });
  CHECK(stops > 30);
}

TEST_CASE("Patient: with a wrapped assessor both must say so") {
  AssessorFeed rule(patient_entry,
                    {{"optimize_mode", "minimize"}, {"patience", 1}, {"wrapped", "medianstop"}});
  rule.run(0, {2, 2, 2, 2, 2, 2});
  for (const double x : {1.0, 1.5, 1.5, 1.5}) {
    CHECK_FALSE(rule.stops(1, x));  // better than the median
  }
  CHECK_FALSE(rule.stops(2, 4));
  CHECK_FALSE(rule.stops(2, 3));
  rule.reload();
  CHECK_FALSE(rule.stops(2, 5));
  const Decision stop = rule.value(2, 5);
  CHECK(stop.action == Action::stop);
  CHECK(stop.reason ==
        "step 3: the best of the last 2 results, 5, is worse than the best so far, 3, by more than "
        "0; best 3 by step "
        "3 is above the median 2 of 1 completed trials");
  rule.end(2, End::completed);  // the wrapped one is told: its median is now 3.5
  CHECK_FALSE(rule.stops(3, 2.5));
}

TEST_CASE("Patient: the step may be a metric, also for the wrapped assessor") {
  AssessorFeed rule(patient_entry, {{"optimize_mode", "minimize"},
                                    {"patience", 0},
                                    {"wrapped", "Threshold"},
                                    {"step_attr", "epoch"}});
  rule.metrics(0, {{"default", 1}, {"epoch", 5}});
  CHECK(rule.metrics(0, {{"default", 2}}).action == Action::keep_going);
  AssessorRegistry registry;
  registry.add(patient_entry);
  CHECK_FALSE(make_assessor(registry, "Patient",
                            {{"wrapped", "Medianstop"}, {"step_attr", "epoch"}}, {}, 0));
}

TEST_CASE("Patient: several reports at once come to the wrapped assessor one by one") {
  AssessorFeed rule(patient_entry,
                    {{"optimize_mode", "minimize"}, {"patience", 0}, {"wrapped", "Medianstop"}});
  rule.run(0, {2, 2, 2, 2});
  const Decision stop = rule.values(1, {3, 4, 1, 1});
  CHECK(stop.action == Action::stop);
  CHECK(
      stop.reason.starts_with("step 1: the best of the last 1 results, 4, is worse than the best "
                              "so far, 3, by more than 0; "));
  CHECK(rule.rewrite(1, 0, 3.5).action == Action::keep_going);
}

TEST_CASE("Patient: a wrapped assessor must exist, and its state must be there") {
  AssessorRegistry registry;
  registry.add(patient_entry);
  const auto made = make_assessor(registry, "Patient", {{"wrapped", "Medianstp"}}, {}, 0);
  REQUIRE_FALSE(made);
  CHECK(made.error().message.find("did you mean \"Medianstop\"?") != std::string::npos);

  AssessorFeed rule(patient_entry, {{"wrapped", "Medianstop"}});
  rule.value(0, 1);
  const json good = rule.assessor->save();
  for (const char* key : {"wrapped", "live"}) {
    json damaged = good;
    damaged[key] = 1.5;
    CHECK_FALSE(rule.assessor->load(damaged));
    damaged.erase(key);
    CHECK_FALSE(rule.assessor->load(damaged));
  }
  CHECK(rule.assessor->save() == good);
}

}  // namespace attune::patient_test
