// Against Syne Tune's recorded numbers (tests/data/syne_tuning_status.json), and criteria of ours.
#include "manager/trials/tuning_status.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <fstream>

namespace attune::tuning_status_test {

json recorded() {
  std::ifstream stream(ATTUNE_TEST_DATA "/syne_tuning_status.json");
  return json::parse(stream);
}

void check(const TuningStatus& status, const json& wanted) {
  CHECK(status.started() == wanted.at("started"));
  CHECK(status.completed() == wanted.at("completed"));
  CHECK(status.finished() == wanted.at("finished"));
  CHECK(status.failed() == wanted.at("failed"));
  CHECK(status.evaluations() == wanted.at("count"));
  for (const char* name : {"NLL", "time"}) {
    const MetricStatistics* metric = status.metric(name);
    REQUIRE(metric != nullptr);
    CHECK(metric->min == wanted.at("min").at(name));
    CHECK(metric->max == wanted.at("max").at(name));
    CHECK(metric->sum == wanted.at("sum").at(name));
  }
}

// The reports behind the recorded sums: two of trial 1, one of trial 0, then one more of trial 0.
TuningStatus first_update() {
  TuningStatus status;
  status.on_started();
  status.on_started();
  status.on_report("0", {{"NLL", 2.0}, {"time", 10.0}}, 10);
  status.on_report("1", {{"NLL", 1.0}, {"time", 5.0}}, 5);
  status.on_report("1", {{"NLL", 3.0}, {"time", 12.0}}, 7);
  return status;
}

TuningStatus second_update() {
  TuningStatus status = first_update();
  status.on_report("0", {{"NLL", 0.0}, {"time", 20.0}}, 10);
  status.on_completed();
  status.on_failed();
  return status;
}

StopRules rules_of(const json& criterion) {
  StopRules rules;
  const auto first = criterion.begin();
  const std::string& name = first.key();
  const json& value = first.value();
  if (name == "max_num_trials_started") rules.max_started = value.get<std::int64_t>();
  if (name == "max_num_trials_completed") rules.max_completed = value.get<std::int64_t>();
  if (name == "max_num_trials_finished") rules.max_finished = value.get<std::int64_t>();
  if (name == "max_num_evaluations") rules.max_evaluations = value.get<std::int64_t>();
  if (name == "max_cost") rules.max_cost = value.get<double>();
  const auto fill = [&](std::map<std::string, double>& limits) {
    for (const auto& [metric, limit] : value.items()) limits[metric] = limit;
  };
  if (name == "max_metric_value") fill(rules.max_metric);
  if (name == "min_metric_value") fill(rules.min_metric);
  return rules;
}

TEST_CASE("tuning status: Syne Tune's sums and criteria") {
  const json data = recorded();
  check(first_update(), data.at("after_first_update"));
  const TuningStatus status = second_update();
  check(status, data.at("after_second_update"));
  REQUIRE(data.at("stopping_criterion_on_second").size() == 14);
  for (const json& item : data.at("stopping_criterion_on_second")) {
    INFO(item.dump());
    CHECK(rules_of(item.at("criterion")).met(status).has_value() == item.at("stop").get<bool>());
  }
}

TEST_CASE("tuning status: summed time and cost") {
  TuningStatus status;
  status.on_report("a", {{"cost", 2.0}}, 3);
  status.on_report("a", {{"cost", 5.0}}, 3);
  status.on_report("b", {{"cost", 1.0}}, 2);
  status.on_report("a", {{"cost", 4.0}}, 0);  // the largest of each trial counts
  CHECK(status.cost() == 6);
  status.on_attempt_end(1);
  status.on_end("a");
  status.on_report("b", {{"cost", 2.0}}, 1);
  CHECK(status.cost() == 7);
  CHECK(status.trial_seconds() == 10);
  StopRules rules;
  rules.max_trial_seconds = 10;
  CHECK_FALSE(rules.met(status));  // reached, not exceeded
  status.on_attempt_end(0.5);
  CHECK(rules.met(status) == "the trials have run for 10.5 s in sum");
}

TEST_CASE("tuning status: no plateau before the limits are kept and none by what breaks them") {
  TuningStatus status;
  StopRules rules;
  rules.plateau = StopRules::Plateau{3, 0};
  for (int i = 0; i < 5; ++i) status.on_score({1, {0.1}}, false, rules);
  CHECK_FALSE(rules.met(status));
  CHECK_FALSE(status.best());
  status.on_score({0, {0.5}}, false, rules);
  CHECK(status.best() == 0.5);
  for (int i = 0; i < 2; ++i) status.on_score({1, {0.1}}, false, rules);
  CHECK(status.best() == 0.5);
  CHECK_FALSE(rules.met(status));
  status.on_score({0, {0.4}}, false, rules);
  CHECK(status.scores_since_best() == 0);
  for (int i = 0; i < 3; ++i) status.on_score({1, {0.1}}, false, rules);
  CHECK(rules.met(status));
}

TEST_CASE("tuning status: a plateau needs trials in a row, and tiny steps count once they sum up") {
  TuningStatus status;
  StopRules rules;
  rules.plateau = StopRules::Plateau{3, 0.1};
  double score = 1;
  for (int i = 0; i < 3; ++i) status.on_score({0, {score -= 0.04}}, false, rules);
  CHECK(status.scores_since_best() == 2);
  CHECK_FALSE(rules.met(status));
  status.on_score({0, {0.5}}, false, rules);
  CHECK(status.scores_since_best() == 0);
  for (int i = 0; i < 3; ++i) status.on_score({0, {0.45}}, false, rules);
  CHECK(rules.met(status).has_value());
}

TEST_CASE("tuning status: what counts as a metric") {
  CHECK(metrics_of(0.5, "loss") == Metrics{{"loss", 0.5}});
  CHECK(metrics_of(json::parse(R"({"default": 1, "done": true, "name": "x", "deep": {"y": 2}})"),
                   "default") == Metrics{{"default", 1}, {"done", 1}});
  CHECK(metrics_of("text", "default").empty());
  CHECK(metrics_of(nullptr, "default").empty());
  TuningStatus status;
  status.on_report("a", {{"default", std::nan("")}}, 0);
  CHECK(status.metric("default") == nullptr);
  CHECK(status.evaluations() == 1);
}

}  // namespace attune::tuning_status_test
