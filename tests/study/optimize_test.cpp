#include <sys/resource.h>
#include <sys/wait.h>

#include <atomic>
#include <chrono>
#include <cmath>
#include <condition_variable>
#include <csignal>
#include <latch>
#include <mutex>
#include <stdexcept>

#include "tests/study/study_fixture.h"

namespace attune::optimize_test {

using namespace attune::test;

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

int exit_code_of(pid_t child) {
  int status = 0;
  REQUIRE(::waitpid(child, &status, 0) == child);
  INFO("status " << status);
  REQUIRE(WIFEXITED(status));
  return WEXITSTATUS(status);
}

TEST_CASE("minimize: the shortest program") {
  const StudyTrial best = must(minimize(cost, small_space(), 200));
  CHECK(*best.value < 0.1);
  const StudyTrial most = must(maximize(cost, small_space(), 200));
  CHECK(*most.value > 20);
}

TEST_CASE("minimize and maximize: the name is the direction, also with objectives") {
  const auto named = [](const json& p) { return json{{"accuracy", cost(p)}}; };
  CHECK(*must(maximize(named, small_space(), 60, {.objectives = {{.metric = "accuracy"}}})).value >
        15);
  CHECK(*must(minimize(named, small_space(), 60, {.objectives = {{.metric = "accuracy"}}})).value <
        1);
  CHECK_THAT(error_of(minimize(cost, small_space(), 60, {.maximize = true})),
             Catch::Contains("say maximize"));
  CHECK_THAT(error_of(minimize(named, small_space(), 60, {.objectives = {{"accuracy", true}}})),
             Catch::Contains("say maximize"));
  CHECK_THAT(error_of(Study::create(small_space(),
                                    {.maximize = true, .objectives = {{"accuracy", false}}})),
             Catch::StartsWith("options.maximize: the study is to minimize \"accuracy\""));
}

TEST_CASE("objectives: only the later ones may have a limit") {
  CHECK_THAT(error_of(Study::create(small_space(), {.objectives = {{"accuracy", true, 0.5}}})),
             Catch::StartsWith("options.objectives[0].limit: "));
  CHECK(Study::create(small_space(), {.objectives = {{"accuracy", true}, {"seconds", false, 2}}}));
  const auto refused = [](const Objective& second) {
    return error_of(Study::create(small_space(), {.objectives = {{"accuracy", true}, second}}));
  };
  for (const double limit : {std::nan(""), HUGE_VAL, -HUGE_VAL}) {
    CHECK(refused({"seconds", false, limit}) ==
          "options.objectives[1].limit: a finite number expected");
  }
  CHECK(refused({"", false}) == "options.objectives[1].metric: empty");
  CHECK(refused({"accuracy", false, 1}) ==
        "options.objectives[1]: \"accuracy\" is an objective already");
}

TEST_CASE("minimize: within a limit or not at all") {
  const auto limited = [](double limit) {
    return minimize([](const json& p) { return json{{"loss", cost(p)}, {"size", -cost(p)}}; },
                    small_space(), 60, {.objectives = {{"loss"}, {"size", false, limit}}});
  };
  const StudyTrial best = must(limited(-1.0));
  CHECK(*best.value >= 1);
  CHECK(*best.value < 5);
  CHECK_THAT(error_of(limited(-1e9)),
             Catch::StartsWith("no trial keeps the limits; the nearest is trial "));
  CHECK(error_of(minimize(cost, small_space(), 5, {.objectives = {{"loss"}, {"size"}}})) ==
        "no trial that completed has a finite number of every objective");
}

TEST_CASE("minimize: what is wrong is named, and so is why there is no best") {
  CHECK(error_of(minimize(cost, small_space(), -1)) == "trials: must be at least 1, not -1");
  CHECK_THAT(error_of(minimize(cost, small_space(), 0)), Catch::StartsWith("trials: "));
  CHECK_THAT(error_of(minimize(cost, small_space(), 5, {}, {.threads = 0})),
             Catch::StartsWith("options.threads: "));
  const auto nan = [](const json&) { return std::numeric_limits<double>::quiet_NaN(); };
  CHECK(error_of(minimize(nan, small_space(), 5)) ==
        "no trial completed: of 5 results none was finite");
  CHECK(error_of(minimize(cost, small_space(), 5, {}, {.seconds = 0.0})) ==
        "no trial was run: the time is over");
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
  CHECK_THAT(study.trial(2)->reason,
             Catch::Contains("a report is a number or an object of named values"));
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
  CHECK_THAT(must(finite.optimize([](const json& p) { return p.at("n").get<int>(); },
                                  {.trials = 10, .threads = 2})),
             Catch::Contains("exhausted"));
  CHECK(finite.count(TrialState::completed) == 3);
}

TEST_CASE("optimize: what a function saves goes nowhere, and is gone when it ends") {
  Study study = must(Study::create(small_space()));
  std::vector<std::filesystem::path> folders;
  const auto saves = [&](const json& p, StatusReporter& reporter) {
    for (const int step : {0, 7}) {
      const auto folder = reporter.make_checkpoint_dir(step);
      CHECK(std::filesystem::is_empty(folder));
      write(folder / "state", "epoch");
      reporter.set_checkpoint(folder / "state");
      folders.push_back(folder);
    }
    CHECK(std::filesystem::is_empty(reporter.make_checkpoint_dir(0)));
    CHECK_THROWS_AS(reporter.set_checkpoint("/tmp"), std::runtime_error);
    CHECK_THROWS_AS(reporter.make_checkpoint_dir(-1), std::runtime_error);
    return cost(p);
  };
  must(study.optimize(saves, {.trials = 2}));
  CHECK(study.count(TrialState::completed) == 2);
  REQUIRE(folders.size() == 4);
  CHECK(folders[0] != folders[2]);
  for (const auto& folder : folders) CHECK_FALSE(std::filesystem::exists(folder.parent_path()));
}

TEST_CASE("optimize: what was left running and not run now is run by the next one") {
  const Folder folder;
  const std::string path = folder.file("study.jsonl");
  {
    Study study = must(Study::create(small_space(), {.file = path}));
    REQUIRE(must(study.ask(3)).trials.size() == 3);
  }
  Study study = must(Study::open(path));
  OptimizeOptions once{.trials = 3};
  once.on_end = [](const StudyTrial&) { return false; };
  CHECK(must(study.optimize(cost, once)) == "ended by on_end");
  CHECK(study.running().size() == 2);
  CHECK(must(study.optimize(cost, {.trials = 3})) == "all trials have run");
  CHECK(study.running().empty());
  CHECK(study.count(TrialState::completed) == 3);
}

TEST_CASE("optimize: whatever on_end throws ends the whole") {
  Study study = must(Study::create(small_space()));
  OptimizeOptions how{.trials = 6, .threads = 2};
  how.on_end = [](const StudyTrial&) -> bool { throw 42; };
  CHECK(error_of(study.optimize(cost, how)) == "on_end: an exception that is no std::exception");
  how.on_end = [](const StudyTrial&) -> bool { throw std::runtime_error("no"); };
  CHECK(error_of(study.optimize(cost, how)) == "on_end: no");
}

TEST_CASE("optimize: on_end is told of no trial whose end the file did not get") {
  const Folder folder;
  const std::string path = folder.file("study.jsonl");
  // In a process of its own: the limit on file sizes holds for all that it does.
  const pid_t child = ::fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    auto study = Study::create(small_space(), {.file = path});
    if (!study) ::_exit(2);
    std::signal(SIGXFSZ, SIG_IGN);
    const rlimit limit = {2000, 2000};
    ::setrlimit(RLIMIT_FSIZE, &limit);
    bool told_of_running = false;
    OptimizeOptions how{.trials = 100, .threads = 2};
    how.on_end = [&](const StudyTrial& trial) {
      told_of_running = told_of_running || trial.state == TrialState::running;
      return true;
    };
    const auto ended = study->optimize(cost, how);
    ::_exit(ended ? 3 : told_of_running ? 1 : 0);
  }
  CHECK(exit_code_of(child) == 0);
}

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)  // they need the address space
TEST_CASE("optimize: a thread that cannot be made is an error, and nobody waits for it") {
  const pid_t child = ::fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    ::alarm(60);  // a deadlock ends here
    auto study = Study::create(small_space());
    if (!study) ::_exit(2);
    const rlimit limit = {600 << 20, 600 << 20};
    ::setrlimit(RLIMIT_AS, &limit);
    const auto ended = study->optimize(cost, {.trials = 1000, .threads = 200});
    if (ended || ended.error().message.find("cannot start thread") == std::string::npos) ::_exit(1);
    // Nothing is lost: with fewer threads it goes on.
    const auto again = study->optimize(cost, {.trials = 1000, .threads = 2});
    ::_exit(again && study->count(TrialState::completed) == 1000 ? 0 : 3);
  }
  CHECK(exit_code_of(child) == 0);
}
#endif

}  // namespace attune::optimize_test
