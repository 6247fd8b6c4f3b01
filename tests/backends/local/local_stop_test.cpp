// Trials that are ended: by us, with all that they started.
#include "tests/backends/local/local_fixture.h"

namespace attune::local_stop_test {

using namespace test;

auto grace(std::chrono::milliseconds time) {
  return [time](LocalBackendOptions& options) { options.stop_grace = time; };
}

TEST_CASE("local backend: a stopped trial ends, and what it reported since is late") {
  const bool ignores = GENERATE(false, true);
  CAPTURE(ignores);
  LocalFixture f(std::string(ignores ? "trap '' TERM; " : "") +
                     "exec 9> line; report PERIODICAL 0 1; echo ready >&9; while true; do read x < "
                     "never; done",
                 grace(ignores ? 50ms : 60'000ms));
  Lifeline line(f.directory / "line");
  ::mkfifo((f.directory / "never").c_str(), 0600);
  f.start();
  REQUIRE(line.wait_for_byte());
  f.backend->stop("t0");
  f.backend->stop("t0");  // does not end the grace
  REQUIRE(f.run_to_end());
  CHECK(f.finished[0].how == Ending::stopped);
  CHECK(f.finished[0].detail ==
        (ignores ? "killed by signal 9 (Killed)" : "killed by signal 15 (Terminated)"));
  REQUIRE(f.reports.size() == 1);
  CHECK(f.reports[0].late);
}

TEST_CASE("local backend: a trial that is told to stop may say a last word, and it is late") {
  LocalFixture f(
      "trap 'report FINAL 0 9; exit 0' TERM; report PERIODICAL 0 1; "
      "while true; do read x < never; done",
      grace(60'000ms));
  ::mkfifo((f.directory / "never").c_str(), 0600);
  f.start();
  REQUIRE(f.run_until([&] { return f.reports.size() == 1; }));
  CHECK_FALSE(f.reports[0].late);
  f.backend->pause("t0");
  REQUIRE(f.run_to_end());
  REQUIRE(f.reports.size() == 2);
  CHECK(f.reports[1].late);
  CHECK(f.reports[1].metric.value == 9);
  // It ended by itself, and well; but it was to pause, so that it is paused.
  CHECK(f.finished[0].how == Ending::paused);
  CHECK(f.finished[0].detail == "exit code 0");
}

TEST_CASE("local backend: the program of a stopped shell has its time to save its work") {
  // The shell dies of TERM, its child in the same group needs longer.
  LocalFixture f(
      "exec 9> line; bash -c 'trap \"echo saving >&9; read x < go; echo done > saved; exit\" "
      "TERM; echo ready >&9; while true; do read x < never; done'; echo never here",
      grace(600'000ms));
  Lifeline line(f.directory / "line");
  ::mkfifo((f.directory / "never").c_str(), 0600);
  ::mkfifo((f.directory / "go").c_str(), 0600);
  f.start();
  for (int i = 0; i < 6; ++i) REQUIRE(line.wait_for_byte());  // "ready\n"
  f.backend->stop("t0");
  REQUIRE(line.wait_for_byte());
  SECTION("and is waited for") {
    std::ofstream(f.directory / "go") << "on\n";
    REQUIRE(f.run_to_end());
    CHECK(read_text(f.directory / "saved") == "done\n");
  }
  SECTION("unless there is no time") {
    f.backend->kill_all();
    REQUIRE(f.run_to_end());
    CHECK_FALSE(fs::exists(f.directory / "saved"));
  }
  CHECK(f.finished[0].how == Ending::stopped);
}

TEST_CASE("local backend: a job that does not run is not stopped") {
  LocalFixture f("true");
  f.backend->stop("t0");
  f.backend->pause("t0");
  f.start();
  REQUIRE(f.run_to_end());
  CHECK(f.finished[0].how == Ending::succeeded);
  f.backend->stop("t0");
  f.backend->kill_all();
  f.start(0, 1);
  REQUIRE(f.run_to_end(2));
  CHECK(f.finished[1].how == Ending::succeeded);
}

// Each holds the lifeline, ignores TERM, and is not ended by the command's own end.
TEST_CASE("local backend: nothing of a trial outlives it") {
  struct Row {
    const char* name;
    const char* command;
  };
  const Row row = GENERATE(values<Row>(
      {{"a child", "(trap '' TERM; echo ready >&9; read x < never) & "},
       {"a session of its own",
        "setsid bash -c 'trap \"\" TERM; echo ready >&9; read x < never' & "},
       {"a daemon that forked twice",
        "(setsid bash -c '(trap \"\" TERM; echo ready >&9; read x < never) & exit' &) ; "}}));
  CAPTURE(row.name);
  LocalFixture f("exec 9> line; " + std::string(row.command) + "read y < go", grace(100ms));
  Lifeline line(f.directory / "line");
  ::mkfifo((f.directory / "never").c_str(), 0600);
  ::mkfifo((f.directory / "go").c_str(), 0600);
  f.start();
  REQUIRE(line.wait_for_byte());
  SECTION("when it ends by itself") {
    std::ofstream(f.directory / "go") << "on\n";
    REQUIRE(f.run_to_end());
    CHECK(f.finished[0].how == Ending::succeeded);
  }
  SECTION("when it is stopped") {
    f.backend->stop("t0");
    REQUIRE(f.run_to_end());
    CHECK(f.finished[0].how == Ending::stopped);
  }
  SECTION("when it is killed") {
    f.backend->kill_all();
    REQUIRE(f.run_to_end());
    CHECK(f.finished[0].how == Ending::stopped);
  }
  CHECK(line.wait_for_end());
}

TEST_CASE("local backend: a shim that was stopped does not hold up the end") {
  LocalFixture f("exec 9> line; echo ready >&9; read x < never");
  Lifeline line(f.directory / "line");
  ::mkfifo((f.directory / "never").c_str(), 0600);
  f.start();
  REQUIRE(line.wait_for_byte());
  REQUIRE(::kill(pid_in_spool(f.trial() / "spool.0", "shim"), SIGSTOP) == 0);
  const bool kill = GENERATE(false, true);
  kill ? f.backend->kill_all() : f.backend->stop("t0");
  REQUIRE(f.run_to_end());
  CHECK(f.finished[0].how == Ending::stopped);
  CHECK(line.wait_for_end());
}

TEST_CASE("local backend: a shim that does not end when all is killed is killed too") {
  // It blocks all signals, as each shim does, and looks at none.
  LocalFixture f("true",
                 [](LocalBackendOptions& options) {
                   options.kill_grace = 50ms;
                   options.shim = options.code_directory / "shim";
                   std::ofstream(options.shim)
                       << "#!/bin/sh\n(exec 9> line; echo ready >&9; setsid sleep 1000) &\n"
                          "exec sleep 1000\n";
                   fs::permissions(options.shim, fs::perms::owner_all);
                 });
  Lifeline line(f.directory / "line");
  f.start();
  REQUIRE(line.wait_for_byte());
  f.backend->kill_all();
  REQUIRE(f.run_to_end());
  CHECK(f.finished[0].how == Ending::stopped);
  CHECK(f.finished[0].detail.find("did not end") != std::string::npos);
  CHECK(line.wait_for_end());
}

TEST_CASE("local backend: a grace that was begun can be cut short") {
  LocalFixture f("trap '' TERM; exec 9> line; echo ready >&9; while true; do read x < never; done",
                 grace(1'000'000ms));
  Lifeline line(f.directory / "line");
  ::mkfifo((f.directory / "never").c_str(), 0600);
  f.start();
  REQUIRE(line.wait_for_byte());
  f.backend->stop("t0");
  f.backend->kill_all();
  REQUIRE(f.run_to_end());
  CHECK(f.finished[0].how == Ending::stopped);
  CHECK(f.finished[0].detail == "killed by signal 9 (Killed)");
}

TEST_CASE("local backend: a trial that goes on forking is ended") {
  // Each process starts its successor and ends: whoever kills what it has seen is always too late.
  LocalFixture f(
      "exec 9> line; next() { (next) & }; "
      "for i in 1 2 3 4 5; do (sleep 1000 & sleep 1000 &) & done; echo ready >&9; next; wait");
  Lifeline line(f.directory / "line");
  f.start();
  REQUIRE(line.wait_for_byte());
  f.backend->kill_all();
  REQUIRE(f.run_to_end());
  CHECK(f.finished[0].how == Ending::stopped);
  CHECK(line.wait_for_end());
}

// After fetch_status_results of Syne Tune (local trials), with one difference: what comes after the
// decision to stop or pause is not withheld until the trial's status changes, but given at once,
// marked as late.
TEST_CASE("local backend: results come once, in order, and late ones are marked") {
  // Each trial reports what it is told to through its FIFO.
  LocalFixture f(
      "trap 'report PERIODICAL 99 99; exit 0' TERM; exec 8<> to$NNI_TRIAL_SEQ_ID; "
      "while read value <&8; do report PERIODICAL 0 $value; done",
      grace(60'000ms));
  std::vector<UniqueFd> to;
  for (const int trial : {3, 7}) {
    const fs::path fifo = f.directory / fmt::format("to{}", trial);
    ::mkfifo(fifo.c_str(), 0600);
    to.emplace_back(::open(fifo.c_str(), O_RDWR | O_CLOEXEC));
    f.start(trial);
  }
  const auto say = [&](int trial, int value) {
    const std::string line = std::to_string(value) + "\n";
    REQUIRE(::write(to[trial == 3 ? 0 : 1].get(), line.data(), line.size()) > 0);
  };
  const auto expect = [&](std::vector<std::tuple<int, int, bool>> expected) {
    REQUIRE(f.run_until([&] { return f.reports.size() >= expected.size(); }));
    std::vector<std::tuple<int, int, bool>> got;
    for (const TrialReport& report : std::exchange(f.reports, {})) {
      got.emplace_back(report.job_id == "t3" ? 3 : 7, report.metric.value.get<int>(), report.late);
    }
    CHECK(got == expected);
  };
  say(3, 6);
  expect({{3, 6, false}});
  say(7, 14);
  expect({{7, 14, false}});
  say(7, 15);
  expect({{7, 15, false}});
  say(3, 7);
  say(3, 8);
  expect({{3, 7, false}, {3, 8, false}});
  f.backend->stop("t7");
  expect({{7, 99, true}});
  f.backend->pause("t3");
  expect({{3, 99, true}});
  REQUIRE(f.run_to_end(2));
  // The paused one goes on, and its late result does not come out again.
  f.start(3, 1);
  say(3, 10);
  expect({{3, 10, false}});
}

}  // namespace attune::local_stop_test
