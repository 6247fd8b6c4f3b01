#include <atomic>
#include <chrono>
#include <condition_variable>
#include <latch>
#include <mutex>
#include <stdexcept>

#include "tests/study/study_fixture.h"

using namespace attune;
using namespace attune::test;

namespace {

// Runs a function whose calls report three times, and `delay` before each report and each return.
template <class Delay>
std::string run(int threads, std::uint64_t seed, Delay delay) {
  StudyOptions options{
      .tuner = {.name = "TPE", .arguments = {{"tpe_args", {{"n_startup_jobs", 4}}}}},
      .assessor = Algorithm{"Medianstop", {{"start_step", 1}}},
      .seed = seed,
      .concurrency = 4};
  Study study = must(Study::create(small_space(), options));
  const auto function = [&](const json& p, StatusReporter& reporter) {
    for (int step = 0; step < 3; ++step) {
      delay(std::stoi(reporter.trial_id()), step);
      reporter.report(cost(p) + 3 - step);
    }
    delay(std::stoi(reporter.trial_id()), 3);
    if (cost(p) > 20) throw std::runtime_error("too far");
    return cost(p);
  };
  must(study.optimize(function, {.trials = 40, .threads = threads}));
  return summary(study);
}

void at_once(int, int) {}

void yielding(int trial, int step) {
  for (int i = 0; i < (trial * 7 + step * 3) % 11 * 50; ++i) std::this_thread::yield();
}

}  // namespace

TEST_CASE("minimize: the shortest program") {
  const StudyTrial best = must(minimize(cost, small_space(), 200));
  CHECK(*best.value < 0.1);
  const StudyTrial most = must(maximize(cost, small_space(), 200));
  CHECK(*most.value > 20);
}

TEST_CASE("optimize: results depend on seed and threads, not on time") {
  for (const int threads : {1, 2, 4}) {
    CAPTURE(threads);
    const std::string expected = run(threads, 5, at_once);
    CHECK(expected.find("stopped") != std::string::npos);
    for (int again = 0; again < 3; ++again) CHECK(run(threads, 5, yielding) == expected);
    CHECK(run(threads, 6, at_once) != expected);
  }
}

// The order in which calls say something is forced: every pair of trials 2i, 2i + 1 says its first
// report in the order that `swap` demands. The results must be the same.
TEST_CASE("optimize: a forced order of the threads changes nothing") {
  const auto forced = [](bool swap) {
    std::mutex mutex;
    std::condition_variable changed;
    std::vector<bool> passed(64, false);
    return run(2, 9, [&, swap](int trial, int step) {
      if (step != 0 || trial >= 2) return;
      std::unique_lock lock(mutex);
      const int partner = trial ^ 1;
      const bool second = (trial % 2 == 0) == swap;
      if (second) {
        changed.wait(lock, [&] { return passed[static_cast<std::size_t>(partner)]; });
      }
      passed[static_cast<std::size_t>(trial)] = true;
      changed.notify_all();
    });
  };
  CHECK(forced(false) == forced(true));
}

TEST_CASE("optimize: calls run at the same time") {
  Study study = must(Study::create(small_space()));
  std::latch all(3);
  const auto function = [&](const json& p) {
    all.arrive_and_wait();  // would never return if calls were made one after the other
    return cost(p);
  };
  must(study.optimize(function, {.trials = 3, .threads = 3}));
  CHECK(study.count(TrialState::completed) == 3);
}

TEST_CASE("optimize: in any order a slow trial holds nobody up") {
  Study study = must(Study::create(small_space()));
  std::atomic<int> ended = 0;
  std::latch others(9);
  const auto function = [&](const json& p, StatusReporter& reporter) {
    if (reporter.trial_id() == "0") {
      others.wait();
    } else {
      reporter.report(1);
      ++ended;
      others.count_down();
    }
    return cost(p);
  };
  must(study.optimize(function, {.trials = 10, .threads = 2, .any_order = true}));
  CHECK(ended == 9);
  CHECK(study.count(TrialState::completed) == 10);
}

TEST_CASE("optimize: how calls end") {
  Study study = must(Study::create(small_space()));
  const auto function = [](const json& p, StatusReporter& reporter) -> json {
    switch (std::stoi(reporter.trial_id())) {
      case 0:
        throw std::runtime_error("out of range");
      case 1:
        throw 7;
      case 2:
        reporter.report("x");  // throws
        return 1;
      case 3:
        return {{"loss", 1}};
      case 4:
        return {{"default", cost(p)}, {"seconds", 2}};
      default:
        return cost(p);
    }
  };
  must(study.optimize(function, {.trials = 6}));
  CHECK(study.trial(0)->reason == "out of range");
  CHECK_THAT(study.trial(1)->reason, Catch::Contains("no std::exception"));
  CHECK_THAT(study.trial(2)->reason, Catch::Contains("must be a number or an object"));
  CHECK_THAT(study.trial(3)->reason, Catch::Contains("\"default\""));
  CHECK(study.trial(4)->metrics.size() == 2);
  CHECK(study.count(TrialState::failed) == 4);
  CHECK(study.count(TrialState::completed) == 2);
}

TEST_CASE("optimize: without a returned value the last report counts") {
  Study study = must(Study::create(small_space()));
  must(study.optimize(
      [](const json&, StatusReporter& reporter) {
        reporter.report(3);
        reporter.report(2);
      },
      {.trials = 1}));
  CHECK(study.best()->value == 2.0);
  must(study.optimize([](const json&) {}, {.trials = 2}));
  CHECK_THAT(study.trial(1)->reason, Catch::Contains("neither returned nor reported"));
}

TEST_CASE("optimize: reasons to end") {
  const auto throws = [](const json&) -> double { throw std::runtime_error("no"); };
  Study study = must(Study::create(small_space()));
  CHECK(must(study.optimize(throws, {.trials = 50, .max_failures = 3})) == "3 trials failed");
  CHECK(study.trial_count() == 3);
  CHECK(must(study.optimize(cost, {.trials = 50, .seconds = 0.0})) == "the time is over");
  CHECK(study.trial_count() == 3);
  OptimizeOptions until{.trials = 50};
  until.on_end = [&](const StudyTrial& record) { return record.id < 7; };
  CHECK(must(study.optimize(cost, until)) == "ended by on_end");
  CHECK(study.trial_count() == 8);
  CHECK(must(study.optimize(cost, {.trials = 8})) == "all trials have run");
  CHECK_THAT(error_of(study.optimize(cost, {.threads = 0})), Catch::Contains("options.threads"));
  CHECK_THAT(error_of(minimize(throws, small_space(), 3)), Catch::Contains("the last: no"));
  const json three = SpaceBuilder().choice("n", {1, 2, 3}).build();
  Study finite = must(Study::create(three, {.tuner = {.name = "Random"}}));
  CHECK_THAT(must(finite.optimize([](const json& p) { return p["n"].get<int>(); },
                                  {.trials = 10, .threads = 2})),
             Catch::Contains("exhausted"));
  CHECK(finite.count(TrialState::completed) == 3);
}
