// What the tuner is told of a trial that the assessor has stopped.
#include "dispatcher/stopped_trials.h"

#include <catch2/catch.hpp>
#include <cmath>

#include "assessors/report_forecast.h"
#include "tests/support/exact_state.h"
#include "tests/support/scripted_assessor.h"
#include "tests/support/scripted_tuner.h"
#include "tests/support/through_text.h"

namespace attune::stopped_trials_test {

using exact_state::end;
using exact_state::metric;
using Lines = std::vector<std::string>;

constexpr const char* kSpace =
    R"({"x":{"_type":"uniform","_value":[0,1]},"y":{"_type":"uniform","_value":[0,1]}})";

// Trials 0, 1 and 2 run as the jobs J0, J1 and J2. The assessor stops below 0.
struct World {
  explicit World(StoppedTrials assume, bool maximize_ = false) : maximize(maximize_) {
    rule = {assume, {{"default", maximize}}};
    daemon = start();
    daemon->send("IN", kSpace);
    daemon->send("GE", "3");
    daemon->take();
  }
  std::unique_ptr<Stepped> start() {
    auto owned = std::make_unique<ScriptedTuner>();
    tuner = owned.get();
    return std::make_unique<Stepped>(std::move(owned), maximize,
                                     std::make_unique<ScriptedAssessor>(), options, Log(), rule);
  }
  void send(const Frame& frame) const { daemon->send(frame.code, frame.payload); }
  void report(int trial, const std::vector<std::string>& values) const {
    for (std::size_t i = 0; i < values.size(); ++i) {
      send(metric("PERIODICAL", trial, "J" + std::to_string(trial), values[i],
                  static_cast<std::int64_t>(i)));
    }
  }
  void finish(int trial, const std::string& value) const {
    send(metric("FINAL", trial, "J" + std::to_string(trial), value));
    send(end("J" + std::to_string(trial), trial));
  }
  void stop(int trial, const std::vector<std::string>& values) const {
    report(trial, values);
    send(end("J" + std::to_string(trial), trial, "EARLY_STOPPED"));
  }
  // The other trials have the results 3 and -7, and this was told of trial 2.
  std::string told(const std::vector<std::string>& values) const {
    finish(0, "3");
    finish(1, "-7");
    stop(2, values);
    REQUIRE(tuner->told.size() == 3);
    return tuner->told.back();
  }

  bool maximize;
  DispatcherOptions options = {.capabilities = {.sync = true}};
  StoppedRule rule;
  ScriptedTuner* tuner = nullptr;
  std::unique_ptr<Stepped> daemon;
};

TEST_CASE("stopped trials: each rule has its word") {
  for (const std::string_view name : names_of_stopped_trials()) {
    const auto what = parse_stopped_trials(name);
    REQUIRE(what.has_value());
    CHECK(name_of(*what) == name);
  }
  CHECK(names_of_stopped_trials().size() == 4);
  CHECK_FALSE(parse_stopped_trials("best"));
}

TEST_CASE("stopped trials: the value that each rule gives") {
  CHECK(World(StoppedTrials::ignore).told({"5", "-1"}) == "2 stopped -");
  CHECK(World(StoppedTrials::last).told({"5", "-1"}) == "2 stopped -1");
  CHECK(World(StoppedTrials::last).told({R"({"default": -1, "time": 4})"}) ==
        "2 stopped -1 default=-1 time=4");
  CHECK(World(StoppedTrials::worst).told({"5", "-1"}) == "2 stopped 3");
  // The loss of what is maximised is its negative.
  CHECK(World(StoppedTrials::worst, true).told({"-1"}) == "2 stopped 7");
  CHECK(World(StoppedTrials::worst, true).told({"-9"}) == "2 stopped 9");
  // Too short for a curve.
  CHECK(World(StoppedTrials::extrapolated).told({"5", "-1"}) == "2 stopped -1");
}

TEST_CASE("stopped trials: without any result yet, a trial's own last value is the worst") {
  const World w(StoppedTrials::worst);
  w.stop(0, {"-1"});
  w.stop(1, {"-2"});  // a value that was assumed is no result
  CHECK(w.tuner->told == Lines{"0 stopped -1", "1 stopped -2"});
}

const Lines kCurve = {"8", "4", "2", "1", "0.5", "0.25", "-0.125"};

std::vector<Report> reports_of(const Lines& values) {
  std::vector<Report> reports;
  for (const std::string& value : values) {
    reports.push_back({2, std::ssize(reports), {{"default", std::stod(value)}}});
  }
  return reports;
}

TEST_CASE("stopped trials: a curve is extrapolated to where the longest trial came") {
  const World w(StoppedTrials::extrapolated);
  w.report(0, Lines(20, "1"));
  const double expected = forecast_reports(reports_of(kCurve), {}, 20)->mean();
  REQUIRE(expected < -0.125);
  REQUIRE(expected > -7);
  CHECK(w.told(kCurve) == fmt::format("2 stopped {}", expected));
}

TEST_CASE("stopped trials: or to the full training that the experiment names") {
  const auto at = [](double resource) {
    auto reports = reports_of(kCurve);
    for (Report& report : reports) {
      report.metrics.emplace_back("epoch", resource * static_cast<double>(report.step + 1));
    }
    const StoppedRule rule{StoppedTrials::extrapolated, {{}}, Fidelity{"epoch", 40}};
    return expected_end(rule, reports, 0)[0].second;
  };
  const auto forecast = [](double target) {
    return forecast_reports(reports_of(kCurve), {}, target)->mean();
  };
  CHECK(at(1) == forecast(40));
  CHECK(at(2) == forecast(20));  // a report every second epoch
  CHECK(at(0) == forecast(40));  // no resource that could count
  CHECK(at(40) == -0.125);       // it is there already
}

TEST_CASE("stopped trials: a prediction stays within the results and the trial's own last value") {
  const Metrics last = {{"default", 2}};
  StandIns stand_ins({StoppedTrials::extrapolated, {{}}});
  const auto value = [&](double expected) {
    return stand_ins(last, {{"default", expected}})[0].second;
  };
  CHECK(value(-100) == 2);
  CHECK(value(100) == 2);
  stand_ins.add({.loss = 1, .metrics = {{"default", 1}}});
  stand_ins.add({.loss = 5, .metrics = {{"default", 5}}, .end = End::imported});
  stand_ins.add({.loss = 99, .metrics = {{"default", 99}}, .end = End::stopped});
  CHECK(value(-100) == 1);
  CHECK(value(1.5) == 1.5);
  CHECK(value(100) == 5);
  stand_ins.clear();
  CHECK(value(100) == 2);
}

TEST_CASE("stopped trials: each objective has its own value, and a limit keeps the last one") {
  const std::vector<Objective> objectives = {
      {"default", false}, {"accuracy", true}, {"memory", false, 10}};
  const Outcome result{.loss = 4, .metrics = {{"default", 4}, {"accuracy", 0.5}, {"memory", 99}}};
  const Metrics last = {{"default", 2}, {"accuracy", 0.75}, {"memory", 3}};
  StandIns worst({StoppedTrials::worst, objectives});
  worst.add(result);
  CHECK(worst(last, last) == Metrics{{"default", 4}, {"accuracy", 0.5}, {"memory", 3}});
  CHECK(worst({{"default", 9}}, {{"default", 9}}) == Metrics{{"default", 9}, {"accuracy", 0.5}});

  std::vector<Report> reports = reports_of(kCurve);
  for (Report& report : reports) {
    report.metrics.emplace_back("accuracy", -report.metrics[0].second);
    report.metrics.emplace_back("memory", static_cast<double>(report.step));
  }
  const StoppedRule rule{StoppedTrials::extrapolated, objectives};
  const Metrics end = expected_end(rule, reports, 20);
  CHECK(end[0].second < -0.125);
  CHECK(end[1].second == -end[0].second);
  CHECK(end[2].second == 6);
}

TEST_CASE("stopped trials: a last value that is not finite says nothing, but the worst does") {
  const Lines values = {"1", "-Infinity"};
  CHECK(World(StoppedTrials::last).told(values) == "2 stopped -");
  CHECK(World(StoppedTrials::extrapolated).told(values) == "2 stopped -");
  CHECK(World(StoppedTrials::worst).told(values) == "2 stopped 3");
}

TEST_CASE("stopped trials: only the assessor's stop, and only without a result") {
  const World w(StoppedTrials::last);
  SECTION("a result comes first") {
    w.report(2, {"-1"});
    w.finish(2, "8");
    CHECK(w.tuner->told == Lines{"2 completed 8"});
  }
  SECTION("somebody else stops it") {
    w.report(2, {"1"});
    w.send(end("J2", 2, "USER_CANCELED"));
    CHECK(w.tuner->told == Lines{"2 stopped -"});
  }
  SECTION("it fails before it is stopped") {
    w.report(2, {"-1"});
    w.send(end("J2", 2, "FAILED"));
    CHECK(w.tuner->told == Lines{"2 failed -"});
  }
}

TEST_CASE("stopped trials: includeIntermediateResults makes the last report a result") {
  World w(StoppedTrials::worst);
  w.options.include_intermediate = true;
  w.daemon = w.start();
  w.send({"IN", kSpace});
  w.send({"GE", "3"});
  CHECK(w.told({"-1"}) == "2 completed -1");
}

TEST_CASE("stopped trials: a result that is imported later counts") {
  const World w(StoppedTrials::last);
  w.stop(2, {"-1"});
  w.send({"FD", R"([{"parameter":{"x":0.5,"y":0.5},"value":"-1"}])"});
  CHECK(w.tuner->told == Lines{"2 stopped -1", "-1 imported -1"});
}

TEST_CASE("stopped trials: a restart of the manager forgets the decision") {
  World w(StoppedTrials::last);
  w.report(2, {"-1"});
  const json state = through_text(w.daemon->save());
  w.daemon = w.start();
  REQUIRE(w.daemon->restart(state).has_value());
  w.send({"IN", kSpace});
  w.send({"AD", R"([{"parameter_id":2,"parameter_source":"resumed","parameters":{"x":1,"y":1},
                     "trial_job_id":"J2"}])"});
  w.send(end("J2", 2, "USER_CANCELED"));
  CHECK(w.tuner->told == Lines{"2 stopped -"});
}

// Four trials complete, and then every second one is stopped after five reports.
exact_state::Script script() {
  exact_state::Script script = {{"IN", kSpace}};
  for (int id = 0; id < 12; ++id) {
    const std::string job = "J" + std::to_string(id);
    const bool bad = id >= 4 && id % 2 == 0;
    script.push_back({"GE", "1"});
    for (int step = 0; step < (bad ? 5 : 8); ++step) {
      const double value = (bad ? 9 : 1) + 1.0 / (1 + step) + 0.01 * id;
      script.push_back(metric("PERIODICAL", id, job, std::to_string(value), step));
    }
    if (!bad) script.push_back(metric("FINAL", id, job, std::to_string(1.1 + 0.01 * id)));
    script.push_back(end(job, id, bad ? "EARLY_STOPPED" : "SUCCEEDED"));
  }
  script.push_back({"GE", "3"});
  return script;
}

TEST_CASE("stopped trials: the value shapes what a model proposes, exactly also across a crash") {
  const std::string tuner = GENERATE("TPE", "GP");
  const std::string assessor = GENERATE("Medianstop", "Curvefitting");
  CAPTURE(tuner, assessor);
  const json tuner_arguments =
      tuner == "TPE" ? json{{"tpe_args", {{"n_startup_jobs", 3}}}} : json{{"cold_start_num", 3}};
  json arguments = {{"optimize_mode", "minimize"}, {"start_step", 4}};
  if (assessor == "Curvefitting") arguments["epoch_num"] = 8;
  std::set<std::string> different;
  for (const std::string_view name : names_of_stopped_trials()) {
    CAPTURE(name);
    DispatcherOptions options;
    options.capabilities.sync = true;
    const auto start = [&] {
      return Stepped::make(tuner, tuner_arguments, assessor, arguments, options, Log(),
                           *parse_stopped_trials(name));
    };
    const std::string answers = exact_state::check_everywhere(start, script());
    CHECK(answers.find("KI") != answers.npos);
    different.insert(answers);
  }
  // TPE looks at the order of the results only, GP at their values.
  CHECK(different.size() >= (tuner == "TPE" ? 2 : 4));
}

}  // namespace attune::stopped_trials_test
