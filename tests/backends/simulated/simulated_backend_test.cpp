#include "backends/simulated/simulated_backend.h"

#include <fmt/format.h>

#include <algorithm>
#include <catch2/catch.hpp>

#include "backends/simulated/generated_curves.h"
#include "protocol/codec.h"
#include "tests/backends/simulated/simulated_fixture.h"

namespace attune::simulated_backend_test {

using namespace simulated_test;

TEST_CASE("simulated backend: a trial reports after each epoch, and ends") {
  Fixture f;
  f.start(0, "", {{"x", 1}});
  CHECK_FALSE(f.backend->ready());
  CHECK(f.backend->next_time() == 0.05);
  f.run();
  REQUIRE(f.reports.size() == 6);
  CHECK(f.reports[0].text ==
        R"({"parameter_id":0,"trial_job_id":"t0000","type":"PERIODICAL","sequence":0,)"
        R"("value":"{\"default\":0.1,\"training_iteration\":1,\"time_this_iter_s\":1.0}"})");
  CHECK(f.reports[5].text ==
        R"({"parameter_id":0,"trial_job_id":"t0000","type":"FINAL","sequence":0,)"
        R"("value":"{\"default\":0.5,\"training_iteration\":5}"})");
  for (int epoch = 1; epoch <= 5; ++epoch) {
    const TrialReport& report = f.reports[static_cast<std::size_t>(epoch - 1)];
    CHECK(report.time == Approx(1000 + 0.05 + epoch + 0.05));
    CHECK(report.position == static_cast<std::uint64_t>(epoch));
    CHECK_FALSE(report.late);
  }
  REQUIRE(f.ends.size() == 1);
  CHECK(f.ends[0].how == Ending::succeeded);
  CHECK(f.ends[0].detail == "exit code 0");
  CHECK(f.ends[0].time == Approx(1005.15));
  CHECK(f.ends[0].cpu_seconds == Approx(5.15));
  CHECK_FALSE(f.backend->advance());
  CHECK(f.clock.now() == Approx(5.15));
}

TEST_CASE("simulated backend: what is reported is what its text says") {
  SimulatedBackendOptions options;
  options.plain_metrics = GENERATE(false, true);
  const auto id = GENERATE(values<json>({7, "0-2_0_0", json()}));
  CAPTURE(options.plain_metrics, id.dump());
  Fixture f(options);
  const std::string text = dump_json({{"parameter_id", id}, {"parameters", json::object()}});
  for (const int sequence : {0, 3}) {
    REQUIRE(f.backend->start(f.trial(sequence, 0, text)).has_value());
  }
  f.run();
  REQUIRE(f.reports.size() == 9);
  for (const TrialReport& report : f.reports) {
    CAPTURE(report.text);
    const auto decoded = decode(Frame{"ME", report.text});
    REQUIRE(decoded.has_value());
    const auto& metric = std::get<ReportMetricData>(*decoded);
    CHECK(metric.type == report.metric.type);
    CHECK(metric.parameter_id == report.metric.parameter_id);
    CHECK(metric.trial_job_id == report.metric.trial_job_id);
    CHECK(metric.trial_job_id == report.job_id);
    CHECK(metric.sequence == report.metric.sequence);
    CHECK(metric.value.dump() == report.metric.value.dump());  // NaN is not equal to itself
    CHECK(metric.value.is_object() == !options.plain_metrics);
  }
}

TEST_CASE("simulated backend: events of several trials come in the order of time") {
  Fixture f(no_delays());
  f.start(0);
  f.start(1);
  f.run();
  std::vector<std::pair<double, std::string>> order;
  for (const TrialReport& report : f.reports) order.emplace_back(report.time, report.job_id);
  CHECK(std::ranges::is_sorted(order, {}, &std::pair<double, std::string>::first));
  // At t = 2: both were queued when they started, t0000 first.
  CHECK(order[1] == std::pair<double, std::string>(1002, "t0000"));
  CHECK(order[2] == std::pair<double, std::string>(1002, "t0001"));
  CHECK(f.clock.now() == 10);
}

TEST_CASE("simulated backend: the metric may have any name") {
  SimulatedBackendOptions options;
  options.metric = GENERATE(as<std::string>(), "loss", "a \"quoted\" \\ one", "größe");
  Fixture f(options);
  f.start(0, "", {{"x", 1}});
  f.run();
  for (const TrialReport& report : f.reports) {
    const auto text = parse_json(report.text);
    REQUIRE(text.has_value());
    const auto value = parse_json((*text)["value"].get<std::string>());
    REQUIRE(value.has_value());
    CHECK(*value == report.metric.value);
    CHECK(value->contains(options.metric));
  }
}

TEST_CASE("simulated backend: the budget ends a trial, the final metric may be the best") {
  SimulatedBackendOptions options;
  options.final_metric = SimulatedBackendOptions::Final::best;
  options.maximize = GENERATE(false, true);
  Fixture f(options);
  f.start(2);
  f.run();
  CHECK(f.reports.back().metric.value["default"] == (options.maximize ? 0.5 : 0.2));
  f.start(0, "", {{"TRIAL_BUDGET", 3}});
  f.start(1, "", {{"TRIAL_BUDGET", 0}});
  f.reports.clear();
  f.run();
  CHECK(f.epochs() == std::vector<int>{1, 2, 1, 3});
  for (const json& budget : {json(-1e300), json("3"), json(1e300)}) {
    f.start(0, "", {{"TRIAL_BUDGET", budget}});
    f.reports.clear();
    f.run();
    CHECK(f.epochs().size() == (budget == -1e300 ? 1 : 5));
  }
  f.start(3);
  f.run();
  CHECK(f.reports.back().metric.value["default"] == 3);
}

TEST_CASE("simulated backend: a stopped trial has no later events, its late reports are told") {
  SimulatedBackendOptions options = no_delays();
  options.delays.stop = 1.5;
  Fixture f(options);
  f.start(0);
  f.start(1);
  f.run(2);
  REQUIRE(f.epochs() == std::vector<int>{1, 2, 1});
  f.backend->stop("t0000");
  f.backend->stop("t0000");
  f.backend->stop("nobody");
  f.run(3.5);
  REQUIRE(f.ends.size() == 1);
  CHECK(f.ends[0].how == Ending::stopped);
  CHECK(f.ends[0].time == 1003.5);
  REQUIRE(f.reports.size() == 4);
  CHECK(f.reports[3].late);
  CHECK(f.reports[3].time == 1003);
  f.backend->stop("t0000");
  f.run();
  CHECK(f.ends.size() == 2);
  CHECK(f.ends[1].job_id == "t0001");
  CHECK(f.ends[1].how == Ending::succeeded);
  CHECK(f.epochs() == std::vector<int>{1, 2, 1, 2, 3, 4, 5});
}

TEST_CASE("simulated backend: all are stopped, with grace or without") {
  const bool kill = GENERATE(false, true);
  Fixture f;
  f.start(0);
  f.start(1);
  f.run(1.2);
  f.backend->pause("t0001");
  for (const int sequence : {0, 1}) f.backend->stop(job(sequence));
  if (kill) f.backend->kill_all();
  const double asked = f.clock.now();
  f.run();
  REQUIRE(f.ends.size() == 2);
  for (const TrialFinished& end : f.ends) {
    CHECK(end.how == Ending::stopped);
    CHECK(end.time == Approx(1000 + asked + (kill ? 0 : 0.05)));
  }
}

TEST_CASE("simulated backend: two runs with the same calls are equal, byte for byte") {
  auto run = [](std::uint64_t seed) {
    SimulatedBackendOptions options;
    options.seed = seed;
    options.failures = {0.1, 0.1, {}};
    GeneratedCurvesOptions curves;
    curves.search_space = json::parse(R"({"x": {"_type": "uniform", "_value": [0, 1]}})");
    curves.seed = seed;
    Fixture f(options, generated_curves(curves));
    for (int i = 0; i < 30; ++i) {
      f.start(i, "", {{"x", i / 30.0}});
      if (i % 3 == 0) f.run(f.clock.now() + 5);
      if (i % 7 == 0) f.backend->stop(job(i / 2));
      if (i % 5 == 0) f.backend->save_checkpoint(job(i / 3), fmt::format("c{}", i));
    }
    f.run();
    return f.log;
  };
  const std::string log = run(1);
  CHECK(std::ranges::count(log, '\n') > 1000);
  CHECK(run(1) == log);
  CHECK(run(2) != log);
}

TEST_CASE("simulated backend: what cannot be started is an error, and leaves nothing behind") {
  Fixture f;
  f.start(0);
  CHECK(f.try_start(0).error().message.find("runs already") != std::string::npos);
  CHECK(f.try_start(4).error().message.find("none for trial 4") != std::string::npos);
  CHECK(f.try_start(1, "", 3).error().message.find("an integer, not an object") !=
        std::string::npos);
  CHECK_FALSE(f.backend->start(f.trial(1, 0, "nonsense")).has_value());
  f.run();
  CHECK(f.ends.size() == 1);
  f.start(0);  // once its end was fetched
  f.run();
  CHECK(f.ends.size() == 2);
  CHECK_FALSE(f.backend->give_parameter("t0000", 1, "{}").has_value());
}

TEST_CASE("simulated backend: has the capacity that it was given, and a place") {
  SimulatedBackendOptions options;
  options.capacity.cpu = 8;
  Fixture f(options);
  f.backend->set_path("/experiment");
  CHECK(f.backend->capacity() == options.capacity);
  CHECK(f.backend->stderr_path("t0001") == "/experiment/trials/t0001/stderr");
}

}  // namespace attune::simulated_backend_test
