#include "manager/trials/report_desk.h"

#include <catch2/catch.hpp>

#include "tests/manager/trials/scripted_world.h"

namespace attune::report_desk_test {

using Calls = std::vector<std::string>;
using Kind = EndAsked::Kind;

struct Desk {
  explicit Desk(TrialRules of_trial = {}) {
    trial.record.job_id = "t0001";
    trial.record.status = TrialStatus::running;
    trial.rules = std::make_shared<const TrialRules>(std::move(of_trial));
    trial.ids = {std::int64_t{1}};
    trial.steps.begin({});
  }
  ReportDesk::Outcome report(json value, bool final = false) {
    TrialReport report{"t0001", "as reported", {}, 0, 0, false};
    report.metric.type = final ? ReportMetricData::Type::final : ReportMetricData::Type::periodical;
    report.metric.parameter_id = std::int64_t{1};
    report.metric.value = std::move(value);
    report.metric.sequence = final ? 0 : sequence++;
    return desk.take(trial, report, false);
  }

  RunnerOptions options;
  ScriptedDecider decider;
  Notes notes;
  Announcer announcer{notes, notes, Log()};
  TuningStatus status;
  ReportDesk desk{options, decider, notes, announcer, status};
  LiveTrial trial;
  std::int64_t sequence = 0;
};

TEST_CASE("report desk: the decider hears of an intermediate result at once") {
  Desk d;
  const auto outcome = d.report(0.5);
  CHECK_FALSE(outcome.end);
  CHECK_FALSE(outcome.save);
  CHECK(d.decider.take() == Calls{"result t0001 as reported"});
  CHECK(d.status.evaluations() == 1);
}

TEST_CASE("report desk: a bare number is that of the first objective, whatever its name") {
  TrialRules rules;
  rules.stop = {{"loss", 0.5}};
  Desk d(rules);
  d.options.objectives = {{.metric = "loss"}};
  const auto outcome = d.report(0.5);
  CHECK(d.notes.ignored.empty());
  REQUIRE(d.status.metric("loss") != nullptr);
  CHECK(d.status.metric("loss")->last == 0.5);
  REQUIRE(outcome.end);
  CHECK(outcome.end->kind == Kind::complete);
}

TEST_CASE("report desk: a final result waits for the good end of its attempt") {
  Desk d;
  d.report(0.5, true);
  CHECK(d.decider.take().empty());
  CHECK(d.status.evaluations() == 0);
  d.desk.tell_results(d.trial, false);
  CHECK(d.decider.take() == Calls{"result t0001 as reported"});
  CHECK(d.trial.record.final_metric == 0.5);
  d.report(0.4, true);  // a second one does not count
  d.desk.tell_results(d.trial, false);
  CHECK(d.decider.take().empty());
  CHECK(d.trial.record.final_metric == 0.5);
}

TEST_CASE("report desk: a result that meets stop.trial is the trial's final one") {
  Desk d({.resources = {}, .retries = {}, .stop = {{"accuracy", 0.9}}});
  CHECK_FALSE(d.report({{"default", 1}, {"accuracy", 0.8}}).end);
  const auto outcome = d.report({{"default", 2}, {"accuracy", 0.9}});
  REQUIRE(outcome.end);
  CHECK(outcome.end->kind == Kind::complete);
  CHECK(d.trial.record.final_metric.at("default") == 2);
}

TEST_CASE("report desk: a result that stop.trial cannot judge fails the trial") {
  Desk d({.resources = {}, .retries = {}, .stop = {{"accuracy", 0.9}}});
  const auto outcome = d.report({{"default", 1}});
  REQUIRE(outcome.end);
  CHECK(outcome.end->kind == Kind::fail);
  CHECK(d.decider.take().empty());
}

TEST_CASE("report desk: nothing counts once the trial's end was decided by its results") {
  Desk d;
  d.trial.asked = EndAsked{Kind::early_stop, "it is bad"};
  d.report(0.5);
  d.report(0.5, true);
  CHECK(d.decider.take().empty());
  CHECK(d.trial.finals.empty());
  CHECK(d.notes.ignored.size() == 2);
}

TEST_CASE("report desk: a checkpoint is due at every so many reports, and at the end") {
  Desk d({.resources = {},
          .retries = {},
          .checkpoint_frequency = 2,
          .checkpoint_at_end = true,
          .stop = {}});
  CHECK_FALSE(d.report(1).save);
  CHECK(d.report(1).save);
  CHECK(checkpoint_due(d.trial, {}, true));
}

}  // namespace attune::report_desk_test
