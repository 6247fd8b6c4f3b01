// Trials whose results are lines of their output.
#include <sys/stat.h>

#include "tests/backends/local/local_report_fixture.h"

namespace attune::local_report_test {

using namespace test;

LocalFixture printing(const std::string& command, const std::string& regex,
                      OutputStream stream = OutputStream::out) {
  return LocalFixture(command, [&](LocalBackendOptions& options) {
    options.command = command;
    options.report.how = ReportRules::How::lines;
    options.report.patterns = {{regex, stream}};
  });
}

using Lines = std::vector<std::string>;

TEST_CASE("report lines: matches are intermediate results, the last one the final one") {
  auto local = printing("echo start; echo iter 1 r 0.5; echo iter 2 r 2.5e-1; echo iter 3 r 9 >&2",
                        R"(iter (?<iter>\d+) r (?<default>\S+))");
  local.start();
  REQUIRE(local.run_to_end());
  CHECK(shown(local) == Lines{R"(P0 {"iter":1,"default":0.5})", R"(P1 {"iter":2,"default":0.25})",
                              R"(F0 {"iter":2,"default":0.25})"});
  CHECK(local.finished[0].how == Ending::succeeded);
  CHECK(local.reports_before_end == 3);
  CHECK(local.problems.empty());
  CHECK(
      local.reports[0].text ==
      R"({"parameter_id":0,"trial_job_id":"t0","type":"PERIODICAL","sequence":0,"value":"{\"iter\":1,\"default\":0.5}"})");
  CHECK(read_text(local.trial() / "stdout") == "start\niter 1 r 0.5\niter 2 r 2.5e-1\n");
}

TEST_CASE("report lines: the metrics file is not followed") {
  auto local = printing(kReport + "report FINAL 0 7; echo r 1", R"(r (?<default>\S+))");
  local.start();
  REQUIRE(local.run_to_end());
  CHECK(shown(local) == Lines{R"(P0 {"default":1})", R"(F0 {"default":1})"});
}

TEST_CASE("report lines: standard error, and both") {
  auto local = printing("echo r 1; echo r 2 >&2", R"(r (?<default>\S+))", OutputStream::err);
  local.start();
  REQUIRE(local.run_to_end());
  CHECK(shown(local) == Lines{R"(P0 {"default":2})", R"(F0 {"default":2})"});
}

TEST_CASE("report lines: several patterns, each match a report of its own") {
  LocalFixture local("", [](LocalBackendOptions& options) {
    options.command = "echo a 1 b 2; echo a 3 >&2; echo b 4 >&2";
    options.report.how = ReportRules::How::lines;
    options.report.patterns = {{R"(a (?<default>\S+))", OutputStream::out},
                               {R"(b (?<default>\S+))", OutputStream::both}};
  });
  local.start();
  REQUIRE(local.run_to_end());
  std::vector<std::string> values;
  for (const TrialReport& report : local.reports) values.push_back(dump_json(report.metric.value));
  std::ranges::sort(values);  // standard output and standard error have no order
  CHECK(values.size() == 4);  // and the final one, which is one of them
  for (const char* value : {"1", "2", "4"})
    CHECK(std::ranges::count(values, fmt::format(R"({{"default":{}}})", value)) >= 1);
}

TEST_CASE("report lines: a line without its end, and lines of a progress display") {
  auto local = printing(R"(printf 'r 1\rr 2\r\nr 3')", R"(^r (?<default>\S+)$)");
  local.start();
  REQUIRE(local.run_to_end());
  CHECK(shown(local) == Lines{R"(P0 {"default":1})", R"(P1 {"default":2})", R"(P2 {"default":3})",
                              R"(F0 {"default":3})"});
}

TEST_CASE("report lines: no match is told") {
  auto local = printing("echo nothing", R"(r (?<default>\S+))");
  local.start();
  REQUIRE(local.run_to_end());
  CHECK(local.reports.empty());
  CHECK(local.finished[0].how == Ending::succeeded);
  REQUIRE(local.problems.size() == 1);
  CHECK(mentions(local.problems, "no line of its output has a number for \"default\""));
  CHECK(mentions(local.problems, "stream: both"));
}

TEST_CASE("report lines: a failure has no final result, and no talk of matches") {
  auto local = printing("echo r 1; exit 3", R"(r (?<default>\S+))");
  local.start();
  REQUIRE(local.run_to_end());
  CHECK(shown(local) == Lines{R"(P0 {"default":1})"});
  CHECK(local.finished[0].how == Ending::failed);
  CHECK(local.problems.empty());
}

TEST_CASE("report lines: a group that is no number is told once") {
  auto local =
      printing("for i in 1 2 3; do echo a $i b x$i; done", R"(a (?<default>\S+) b (?<b>\S+))");
  local.start();
  REQUIRE(local.run_to_end());
  CHECK(local.reports.size() == 4);
  REQUIRE(local.problems.size() == 1);
  CHECK(mentions(local.problems, "the group b of the regular expression found no number but 'x1'"));
}

TEST_CASE("report lines: the last line with a number for the objective is the result") {
  auto local =
      printing("echo iter 1 r 0.5; echo iter 2 r '****'", R"(iter (?<iter>\d+) r (?<default>\S+))");
  local.start();
  REQUIRE(local.run_to_end());
  CHECK(shown(local) == Lines{R"(P0 {"iter":1,"default":0.5})", R"(P1 {"iter":2})",
                              R"(F0 {"iter":1,"default":0.5})"});
}

TEST_CASE("report lines: lines that match without a number are not denied") {
  auto local = printing("echo r 1,5", R"(r (?<default>\S+))");
  local.start();
  REQUIRE(local.run_to_end());
  CHECK(local.reports.empty());
  CHECK(mentions(local.problems, "found no number but '1,5'"));
  CHECK(mentions(local.problems, "no line of its output has a number for \"default\""));
}

TEST_CASE("report lines: a catastrophic pattern costs little and is told") {
  auto local = printing("for i in $(seq 300); do echo aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaab c; done",
                        R"((a+)+(?<default>b)$)");
  local.start();
  REQUIRE(local.run_to_end());
  CHECK(local.reports.empty());
  CHECK(mentions(local.problems, "takes too long"));
  CHECK(mentions(local.problems, "not used any more"));
}

TEST_CASE(
    "report lines: a pattern that tries every place of a long line costs little and is told") {
  auto local = printing("head -c 65000 /dev/zero | tr '\\0' a; echo = x; echo v=1",
                        R"(\S+=(?<default>[\d.]+))");
  local.start();
  REQUIRE(local.run_to_end());
  CHECK(shown(local) == Lines{R"(P0 {"default":1})", R"(F0 {"default":1})"});
  CHECK(mentions(local.problems, "longer than 8192 bytes"));
}

TEST_CASE("report lines: a line without end is cut, the next one counts") {
  auto local = printing("echo r 1; head -c 30000000 /dev/zero | tr '\\0' x; echo; echo r 2",
                        R"(^r (?<default>\S+))");
  local.start();
  REQUIRE(local.run_to_end());
  CHECK(shown(local) == Lines{R"(P0 {"default":1})", R"(P1 {"default":2})", R"(F0 {"default":2})"});
  CHECK(mentions(local.problems, "longer than 8192 bytes"));
}

TEST_CASE("report lines: what is printed behind the stop is late, and nothing is final") {
  const TemporaryFolder other;
  const fs::path fifo = other.path / "never";
  REQUIRE(::mkfifo(fifo.c_str(), 0600) == 0);
  auto local = printing(
      "trap 'echo r 2; exit 0' TERM; exec 9<> " + fifo.string() + "; read -u 9 x & echo r 1; wait",
      R"(r (?<default>\S+))");
  local.start();
  REQUIRE(local.run_until([&] { return local.reports.size() == 1; }));
  local.backend->stop("t0");
  REQUIRE(local.run_to_end());
  REQUIRE(local.reports.size() == 2);
  CHECK_FALSE(local.reports[0].late);
  CHECK(local.reports[1].late);
  CHECK(local.finished[0].how == Ending::stopped);
}

TEST_CASE("tune metric: lines as Syne Tune writes them") {
  ReportRules rules;
  rules.how = ReportRules::How::tune_metric;
  rules.objective = "loss";
  auto local = ending(
      "echo '[tune-metric]: {\"loss\": 0.5, \"st_worker_iter\": 0}'\n"
      "echo '[tune-metric]: {\"loss\": 1} [tune-metric]: {\"loss\": 2}'\n"
      "echo 'noise [tune-metric]: {\"loss\": NaN, \"st_worker_iter\": 1}'\n"
      "echo '[tune-metric]: {\"train_time\": 5}'",
      rules);
  local.start();
  REQUIRE(local.run_to_end());
  CHECK(shown(local) == Lines{R"(P0 {"loss":0.5,"st_worker_iter":0})",
                              R"(P1 {"loss":null,"st_worker_iter":1})", R"(P2 {"train_time":5})",
                              R"(F0 {"loss":null,"st_worker_iter":1})"});
  REQUIRE(local.problems.size() == 1);
  CHECK(mentions(local.problems, "reports no JSON object"));
}

TEST_CASE("report lines: after the death of the manager none is lost and none comes twice") {
  TemporaryFolder other;
  const fs::path fifo = other.path / "go";
  REQUIRE(::mkfifo(fifo.c_str(), 0600) == 0);
  LocalBackendOptions options;
  LocalFixture local("", [&](LocalBackendOptions& own) {
    own.command = "echo r 1; echo r 2; read x < " + fifo.string() + "; echo r 3; printf 'r 4'";
    own.report.how = ReportRules::How::lines;
    own.report.patterns = {{R"(r (?<default>\S+))", OutputStream::out}};
    options = own;
  });
  local.start();
  REQUIRE(local.run_until([&] { return local.reports.size() == 2; }));
  const std::uint64_t first = local.reports[0].position;

  replace_manager(local, options, first);
  REQUIRE(local.run_until([&] { return local.reports.size() == 1; }));
  {
    std::ofstream(fifo) << "go\n";
  }
  REQUIRE(local.run_to_end());
  CHECK(shown(local) == Lines{R"(P1 {"default":2})", R"(P2 {"default":3})", R"(P3 {"default":4})",
                              R"(F0 {"default":4})"});
  const std::uint64_t last = local.reports[2].position;
  const std::uint64_t final = local.reports[3].position;

  replace_manager(local, options, last);
  REQUIRE(local.run_to_end());
  CHECK(shown(local) == Lines{R"(F0 {"default":4})"});
  replace_manager(local, options, final);
  REQUIRE(local.run_to_end());
  CHECK(local.reports.empty());
  CHECK(local.finished[0].how == Ending::succeeded);
  CHECK(local.problems.empty());
}

}  // namespace attune::local_report_test
