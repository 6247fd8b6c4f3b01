// Trials that tamper with their metrics file or their spool.
#include <signal.h>

#include <algorithm>

#include "backends/trial_folder.h"
#include "tests/backends/local/local_fixture.h"

namespace attune::local_files_test {

using namespace test;

TEST_CASE("local backend: what a trial does to its metrics file hides no later metric") {
  struct Row {
    std::string between;
    std::string problem;
  };
  // Between the two reports the test sees the first one, so that it cannot be lost.
  const Row row = GENERATE(
      values<Row>({{"> $NNI_SYS_DIR/.nni/metrics", "shorter"},
                   {"rm $NNI_SYS_DIR/.nni/metrics", "replaced"},
                   {"cd $NNI_SYS_DIR/.nni; cp metrics new; > new; mv new metrics", "replaced"}}));
  CAPTURE(row.between);
  LocalFixture f("report PERIODICAL 0 1; read line < go; " + row.between + "; report FINAL 0 2");
  ::mkfifo((f.directory / "go").c_str(), 0600);
  f.start();
  REQUIRE(f.run_until([&] { return f.reports.size() == 1; }));
  std::ofstream(f.directory / "go") << "on\n";
  REQUIRE(f.run_to_end());
  REQUIRE(f.reports.size() == 2);
  CHECK(f.reports[1].metric.value == 2);
  REQUIRE(f.problems.size() == 1);
  CHECK(f.problems[0].find(row.problem) != std::string::npos);
}

TEST_CASE("local backend: a metrics file that is rewritten at the same length is read again") {
  LocalFixture f(
      "report PERIODICAL 0 1; read line < go; > $NNI_SYS_DIR/.nni/metrics; "
      "report PERIODICAL 1 2; read line < done");
  ::mkfifo((f.directory / "go").c_str(), 0600);
  ::mkfifo((f.directory / "done").c_str(), 0600);
  f.start();
  REQUIRE(f.run_until([&] { return f.reports.size() == 1; }));
  // While the shim is stopped it sees none of the two steps.
  const pid_t shim = pid_in_spool(f.trial() / "spool.0", "shim");
  ::kill(shim, SIGSTOP);
  const std::string before = read_text(f.trial() / ".nni/metrics");
  std::ofstream(f.directory / "go") << "on\n";
  std::ofstream(f.directory / "done") << "on\n";  // waits for the trial to read it
  ::kill(shim, SIGCONT);
  REQUIRE(f.run_to_end());
  REQUIRE(read_text(f.trial() / ".nni/metrics").size() == before.size());
  REQUIRE(f.reports.size() == 2);
  CHECK(f.reports[1].metric.value == 2);
  REQUIRE(f.problems.size() == 1);
  CHECK(f.problems[0].find("rewrote") != std::string::npos);
}

TEST_CASE("local backend: a metrics file that is no file is told") {
  LocalFixture f(GENERATE("mkfifo metrics; touch other; rm other", "ln -s /etc/passwd metrics",
                          "mkdir metrics; touch metrics/x"),
                 [](LocalBackendOptions& options) {
                   options.command = "cd $NNI_SYS_DIR/.nni; rm metrics; " + options.command;
                 });
  f.start();
  REQUIRE(f.run_to_end());
  CHECK(f.finished[0].how == Ending::succeeded);
  CHECK(f.reports.empty());
  REQUIRE(f.problems.size() == 1);
  CHECK(f.problems[0].find("no regular file") != std::string::npos);
}

TEST_CASE("local backend: a metrics file that is gone is survived") {
  LocalFixture f(GENERATE("rm -r $NNI_SYS_DIR/.nni", "rm -r $NNI_SYS_DIR"));
  f.start();
  REQUIRE(f.run_to_end());
  CHECK(f.finished[0].how == Ending::succeeded);
  CHECK(f.reports.empty());
}

TEST_CASE("local backend: a trial cannot fill the disk with its spool") {
  LocalFixture f("report FINAL 0 1; truncate -s 1T $NNI_SYS_DIR/.nni/metrics");
  f.start();
  REQUIRE(f.run_to_end());
  CHECK(f.finished[0].how == Ending::succeeded);
  CHECK(f.reports.size() == 1);
  CHECK(fs::file_size(f.trial() / "spool.0") < 270'000'000);
  CHECK(std::ranges::count_if(f.problems, [](const std::string& problem) {
          return problem.find("more than 268435456 bytes") != std::string::npos;
        }) == 1);
}

TEST_CASE("local backend: a spool that the trial damaged is told from a killed shim") {
  LocalFixture f("report FINAL 0 1; read line < go; > $NNI_SYS_DIR/spool.0");
  ::mkfifo((f.directory / "go").c_str(), 0600);
  f.start();
  REQUIRE(f.run_until([&] { return f.reports.size() == 1; }));
  std::ofstream(f.directory / "go") << "on\n";
  REQUIRE(f.run_to_end());
  CHECK(f.finished[0].how == Ending::lost);
  CHECK(f.finished[0].detail.find("spool was damaged") != std::string::npos);
}

TEST_CASE("local backend: a spool that is no file is refused") {
  LocalFixture f("true");
  fs::create_directories(f.trial());
  ::mkfifo((f.trial() / "spool.0").c_str(), 0600);
  const auto started = f.try_start(trial_start(0));
  REQUIRE_FALSE(started.has_value());
  CHECK(started.error().message.find("no regular file") != std::string::npos);
  const auto adopted = f.adopt(trial_start(0), 0);
  REQUIRE_FALSE(adopted.has_value());
  CHECK(adopted.error().message.find("no regular file") != std::string::npos);
}

// mkdir() says what is wrong with it, an exception would have ended the manager.
void in_step(LocalBackendOptions& options) { options.in_step = true; }

TEST_CASE("local backend: a trial waits for the answer to its report") {
  LocalFixture f(
      "a=$NNI_SYS_DIR/.nni/answered; report PERIODICAL 0 1; "
      "while [ $(stat -c %s $a) -lt 1 ]; do sleep 0.01; done; report FINAL 0 $(stat -c %s $a)",
      in_step);
  f.start();
  REQUIRE(f.run_until([&] { return f.reports.size() == 1; }));
  REQUIRE(f.backend->answer("t0", 3));
  REQUIRE(f.backend->answer("t0", 2));  // does not take an answer back
  REQUIRE(f.backend->answer("t0", std::int64_t{1} << 40));
  REQUIRE(f.backend->answer("t1", 1));
  REQUIRE(f.run_to_end());
  CHECK(f.reports.at(1).metric.value == 3);
  // The next attempt has no answers yet.
  f.finished.clear();
  f.start(0, 1);
  REQUIRE(f.run_until([&] { return f.reports.size() == 3; }));
  CHECK(fs::file_size(f.trial() / ".nni/answered") == 0);
}

TEST_CASE("local backend: a trial that is told to end waits for no answer") {
  // It handles SIGTERM, and goes on until its wait is over.
  LocalFixture f(
      "trap : TERM; report PERIODICAL 0 1; "
      "while [ -e $NNI_SYS_DIR/.nni/answered ]; do sleep 0.01; done; report FINAL 0 2",
      in_step);
  f.start();
  REQUIRE(f.run_until([&] { return f.reports.size() == 1; }));
  if (GENERATE(false, true)) {
    f.backend->pause("t0");
  } else {
    f.backend->stop("t0");
  }
  REQUIRE(f.backend->answer("t0", 1));
  REQUIRE(f.run_to_end());
  CHECK(f.reports.at(1).metric.value == 2);
}

TEST_CASE("local backend: what a trial puts in the place of its answers is not followed") {
  LocalFixture f(
      "ln -sf ../other $NNI_SYS_DIR/.nni/answered; report PERIODICAL 0 1; read line < go", in_step);
  ::mkfifo((f.directory / "go").c_str(), 0600);
  f.start();
  REQUIRE(f.run_until([&] { return f.reports.size() == 1; }));
  std::ofstream(f.trial() / "other") << "kept";
  CHECK_FALSE(f.backend->answer("t0", 9));
  CHECK(read_text(f.trial() / "other") == "kept");
}

TEST_CASE("local files: a loop of links is an error, not an exception") {
  const TemporaryFolder folder;
  fs::create_symlink("loop", folder.path / "loop");
  CHECK_FALSE(make_private_directories(folder.path / "loop" / "checkpoints").has_value());
  CHECK(make_private_directories(folder.path / "a" / "b").has_value());
}

}  // namespace attune::local_files_test
