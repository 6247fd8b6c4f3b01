// Real processes. Nothing sleeps: the tests run the io_context until an event came, or a deadline.
#include "backends/local_backend.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/stat.h>

#include <catch2/catch.hpp>
#include <fstream>
#include <sstream>

#include "backends/unique_fd.h"

namespace attune {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;

std::string read_text(const fs::path& path) {
  std::ifstream stream(path, std::ios::binary);
  std::stringstream text;
  text << stream.rdbuf();
  return text.str();
}

// A shell function `report TYPE SEQUENCE VALUE` before the command.
const std::string kReport = R"(report() {
  r="{\"parameter_id\": 0, \"trial_job_id\": \"$NNI_TRIAL_JOB_ID\", \"type\": \"$1\", \"sequence\": $2, \"value\": \"$3\"}"
  printf 'ME%06d%s\n' $((${#r}+1)) "$r" >> "$NNI_SYS_DIR/.nni/metrics"
}
)";

class Fixture {
 public:
  explicit Fixture(const std::string& command, std::chrono::milliseconds grace = 5000ms) {
    char name[] = "/tmp/attune-test-XXXXXX";
    directory = ::mkdtemp(name);
    LocalBackendOptions options;
    options.experiment_id = "experiment";
    options.directory = directory / "trials";
    options.command = kReport + command;
    options.code_directory = directory;
    options.environment = {"PATH=/usr/bin:/bin", "NNI_TRIAL_COMMAND_CHANNEL=http://outer",
                           "KEPT=yes"};
    options.stop_grace = grace;
    auto made = LocalBackend::create(io, options, [this] { woken = true; });
    REQUIRE(made.has_value());
    backend = std::move(*made);
  }
  ~Fixture() {
    backend.reset();
    fs::remove_all(directory);
  }

  void start(int sequence = 0) {
    const auto started =
        backend->start({fmt::format("t{}", sequence), sequence, "{\"parameters\": {}}"});
    REQUIRE(started.has_value());
  }

  // Fetches until `enough(*this)`; false when that took too long.
  bool run_until(const std::function<bool()>& enough) {
    const auto deadline = std::chrono::steady_clock::now() + 60s;
    while (!enough()) {
      if (std::chrono::steady_clock::now() > deadline) return false;
      io.restart();
      io.run_one_for(1s);
      if (std::exchange(woken, false)) {
        for (TrialEvent& event : backend->fetch_status_results()) {
          if (auto* report = std::get_if<TrialReport>(&event))
            reports.push_back(std::move(*report));
          if (auto* problem = std::get_if<TrialProblem>(&event)) problems.push_back(problem->text);
          if (auto* end = std::get_if<TrialFinished>(&event)) {
            reports_before_end = reports.size();
            finished.push_back(std::move(*end));
          }
        }
      }
    }
    return true;
  }
  bool run_to_end(std::size_t trials = 1) {
    return run_until([this, trials] { return finished.size() == trials; });
  }

  boost::asio::io_context io;
  fs::path directory;
  bool woken = false;
  std::unique_ptr<LocalBackend> backend;
  std::vector<TrialReport> reports;
  std::vector<std::string> problems;
  std::vector<TrialFinished> finished;
  std::size_t reports_before_end = 0;
};

// The trial holds the only writing end of a FIFO open: its end of file is the death of everything
// that the trial started.
class Lifeline {
 public:
  explicit Lifeline(const fs::path& path) {
    ::mkfifo(path.c_str(), 0600);
    read_.reset(::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC));
  }
  // The trial has opened it and is where the test wants it.
  bool wait_for_byte() { return next() == 1; }
  bool wait_for_end() {
    ssize_t size = 1;
    while (size > 0) size = next();
    return size == 0;
  }

 private:
  // poll() on a FIFO that had no writer yet waits for one; read() would return 0.
  ssize_t next() {
    pollfd waited{read_.get(), POLLIN, 0};
    char byte;
    return ::poll(&waited, 1, 60'000) == 1 ? ::read(read_.get(), &byte, 1) : -1;
  }

  UniqueFd read_;
};

TEST_CASE("local backend: a trial finds its files and environment, and its metrics come back") {
  Fixture f(R"(cat; pwd; env | sort | grep -E '^(NNI_|KEPT)'; echo oops >&2
               report PERIODICAL 0 0.25; report FINAL 0 0.5)");
  f.start(3);
  REQUIRE(f.run_to_end());
  CHECK(f.finished[0].success);
  REQUIRE(f.reports.size() == 2);
  CHECK(f.reports_before_end == 2);
  CHECK(f.reports[1].metric.value == 0.5);
  CHECK(f.problems.empty());
  const std::string folder = (f.directory / "trials/t3").string();
  CHECK(read_text(f.backend->stdout_path("t3")) ==
        f.directory.string() + "\nKEPT=yes\nNNI_CODE_DIR=" + f.directory.string() +
            "\nNNI_EXP_ID=experiment\nNNI_OUTPUT_DIR=" + folder +
            "\nNNI_PLATFORM=local\nNNI_SYS_DIR=" + folder +
            "\nNNI_TRIAL_JOB_ID=t3\nNNI_TRIAL_SEQ_ID=3\n");
  CHECK(read_text(f.backend->stderr_path("t3")) == "oops\n");
  CHECK(read_text(fs::path(folder) / "parameter.cfg") == "{\"parameters\": {}}");
}

TEST_CASE("local backend: how a trial ended is told") {
  struct Row {
    std::string command;
    bool success;
    std::string detail;
  };
  const Row row =
      GENERATE(values<Row>({{"true", true, "exit code 0"},
                            {"exit 3", false, "exit code 3"},
                            {"kill -SEGV $$", false, "killed by signal 11 (Segmentation fault)"},
                            {"no_such_program", false, "exit code 127"}}));
  CAPTURE(row.command);
  Fixture f(row.command);
  f.start();
  REQUIRE(f.run_to_end());
  CHECK(f.finished[0].success == row.success);
  CHECK(f.finished[0].detail == row.detail);
  CHECK(f.reports.empty());
  CHECK(f.backend->busy_trial_ids().empty());
}

TEST_CASE("local backend: reports arrive while the trial runs") {
  Fixture f("report PERIODICAL 0 1; read line < go; report FINAL 0 2");
  ::mkfifo((f.directory / "go").c_str(), 0600);
  f.start();
  REQUIRE(f.run_until([&] { return f.reports.size() == 1; }));
  CHECK(f.finished.empty());
  std::ofstream(f.directory / "go") << "on\n";
  REQUIRE(f.run_to_end());
  CHECK(f.reports.size() == 2);
}

TEST_CASE("local backend: a stopped trial ends, and what it reported since does not count") {
  const bool ignores = GENERATE(false, true);
  CAPTURE(ignores);
  Fixture f(std::string(ignores ? "trap '' TERM; " : "") +
                "exec 9> line; echo ready >&9; report PERIODICAL 0 1; while true; do read x < "
                "never; done",
            ignores ? 50ms : 60'000ms);
  Lifeline line(f.directory / "line");
  ::mkfifo((f.directory / "never").c_str(), 0600);
  f.start();
  REQUIRE(line.wait_for_byte());
  f.backend->stop("t0");
  REQUIRE(f.run_to_end());
  CHECK_FALSE(f.finished[0].success);
  CHECK(f.finished[0].detail ==
        (ignores ? "killed by signal 9 (Killed)" : "killed by signal 15 (Terminated)"));
  CHECK(f.reports.empty());
}

TEST_CASE("local backend: nothing of a trial outlives it") {
  // The background child ignores TERM and holds the lifeline; the trial itself ends at once.
  Fixture f("exec 9> line; (trap '' TERM; echo ready >&9; read x < never) & read y < go");
  Lifeline line(f.directory / "line");
  ::mkfifo((f.directory / "never").c_str(), 0600);
  ::mkfifo((f.directory / "go").c_str(), 0600);
  f.start();
  REQUIRE(line.wait_for_byte());
  SECTION("when it ends by itself") {
    std::ofstream(f.directory / "go") << "on\n";
    REQUIRE(f.run_to_end());
    CHECK(f.finished[0].success);
  }
  SECTION("when it is stopped") {
    f.backend->stop_all();
    REQUIRE(f.run_to_end());
  }
  SECTION("when it is killed") {
    f.backend->kill_all();
    REQUIRE(f.run_to_end());
  }
  SECTION("when the backend goes away") { f.backend.reset(); }
  CHECK(line.wait_for_end());
}

TEST_CASE("local backend: a flood of metrics arrives whole and in order") {
  constexpr int kCount = 100'000;
  Fixture f(
      "awk -v id=$NNI_TRIAL_JOB_ID 'BEGIN { for (i = 0; i < 100000; ++i) { "
      "r = sprintf(\"{\\\"parameter_id\\\": 0, \\\"trial_job_id\\\": \\\"%s\\\", \\\"type\\\": "
      "\\\"PERIODICAL\\\", \\\"sequence\\\": %d, \\\"value\\\": \\\"%d\\\"}\", id, i, i); "
      "printf \"ME%06d%s\\n\", length(r) + 1, r } }' >> $NNI_SYS_DIR/.nni/metrics");
  f.start();
  REQUIRE(f.run_to_end());
  REQUIRE(f.problems.empty());
  REQUIRE(f.reports.size() == kCount);
  bool in_order = true;
  for (int i = 0; i < kCount; ++i) in_order = in_order && f.reports[i].metric.sequence == i;
  CHECK(in_order);
}

TEST_CASE("local backend: 100 MB of output harm nobody") {
  Fixture f("head -c 100000000 /dev/zero; report FINAL 0 1");
  f.start();
  REQUIRE(f.run_to_end());
  CHECK(f.finished[0].success);
  CHECK(f.reports.size() == 1);
  CHECK(fs::file_size(f.backend->stdout_path("t0")) == 100'000'000);
}

TEST_CASE("local backend: metrics that cannot be used are explained") {
  Fixture f("echo hello >> $NNI_SYS_DIR/.nni/metrics; NNI_TRIAL_JOB_ID=other report FINAL 0 1");
  f.start();
  REQUIRE(f.run_to_end());
  CHECK(f.reports.empty());
  REQUIRE(f.problems.size() == 2);
  CHECK(f.problems[0].find("byte 0") != std::string::npos);
  CHECK(f.problems[1].find("NNI_TRIAL_JOB_ID") != std::string::npos);
}

TEST_CASE("local backend: many trials at once") {
  Fixture f("report FINAL 0 $NNI_TRIAL_SEQ_ID");
  for (int i = 0; i < 20; ++i) f.start(i);
  CHECK(f.backend->busy_trial_ids().size() == 20);
  REQUIRE(f.run_to_end(20));
  CHECK(f.reports.size() == 20);
}

TEST_CASE("local backend: what cannot be started is an error") {
  Fixture f("true");
  f.start(0);
  const auto twice = f.backend->start({"t0", 0, "{}"});
  REQUIRE_FALSE(twice.has_value());
  CHECK(twice.error().message.find("parameter.cfg") != std::string::npos);
  fs::remove_all(f.directory / "trials");
  std::ofstream(f.directory / "trials") << "a file";
  CHECK_FALSE(f.backend->start({"t1", 1, "{}"}).has_value());
  REQUIRE(f.run_to_end());

  LocalBackendOptions options;
  options.code_directory = "/nowhere";
  CHECK_FALSE(LocalBackend::create(f.io, options, [] {}).has_value());
}

}  // namespace
}  // namespace attune
