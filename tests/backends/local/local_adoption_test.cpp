// Managers that are killed, and their successors.
#include <signal.h>
#include <sys/wait.h>

extern "C" {
#include <sys/pidfd.h>  // glibc 2.36 forgets to say so itself
}

#include <map>
#include <set>

#include "base/check.h"
#include "os/clock.h"

#include "tests/backends/local/local_fixture.h"

namespace attune::local_adoption_test {

using namespace test;

using Adoption = TrialBackend::Adoption;

// What a manager has on its disk when it is killed: the test reads it from a pipe.
struct Log {
  std::map<std::string, std::uint64_t> positions;
  std::map<std::string, std::vector<std::string>> reports;  // "PERIODICAL 0", ...
  std::multiset<std::string> ended;
  int lines = 0;

  void take(const std::string& line) {
    std::istringstream words(line);
    std::string kind, job, type, sequence;
    std::uint64_t position = 0;
    words >> kind >> job >> position >> type >> sequence;
    ++lines;
    if (kind == "end") ended.insert(job);
    if (kind != "report") return;
    reports[job].push_back(type + " " + sequence);
    positions[job] = position;
  }
};

std::string line_of(const TrialEvent& event) {
  if (const auto* report = std::get_if<TrialReport>(&event)) {
    const bool final = report->metric.type == ReportMetricData::Type::final;
    return fmt::format("report {} {} {} {}\n", report->job_id, report->position,
                       final ? "FINAL" : "PERIODICAL", report->metric.sequence);
  }
  if (const auto* end = std::get_if<TrialFinished>(&event)) return "end " + end->job_id + "\n";
  return {};
}

// Adopts or starts `trials` trials that have not ended, and writes down what happens until all
// have.
void manage(const fs::path& directory, const std::string& command, int trials, const Log& log,
            const std::function<void(const std::string&)>& write_down) {
  boost::asio::io_context io;
  bool woken = false;
  auto backend = LocalBackend::create(io, local_options(directory, command), [&] { woken = true; });
  ATTUNE_CHECK(backend.has_value());
  (*backend)->set_path(directory / "experiment");
  int running = 0;
  for (int i = 0; i < trials; ++i) {
    const TrialStart start = trial_start(i);
    if (log.ended.contains(start.job_id)) continue;
    const auto known = log.positions.find(start.job_id);
    const auto adoption =
        (*backend)->adopt(start, known == log.positions.end() ? 0 : known->second);
    ATTUNE_CHECK(adoption.has_value() && *adoption != Adoption::lost);
    if (*adoption == Adoption::not_started) ATTUNE_CHECK((*backend)->start(start).has_value());
    ++running;
    write_down("has " + start.job_id + "\n");
  }
  while (running > 0) {
    io.restart();
    io.run_one_for(60s);
    if (!std::exchange(woken, false)) continue;
    for (const TrialEvent& event : (*backend)->fetch_status_results()) {
      running -= std::holds_alternative<TrialFinished>(event) ? 1 : 0;
      write_down(line_of(event));
    }
  }
}

// A manager in a process of its own.
class Manager {
 public:
  Manager(const fs::path& directory, const std::string& command, int trials, const Log& log) {
    int ends[2];
    REQUIRE(::pipe2(ends, O_CLOEXEC) == 0);
    pid_ = ::fork();
    if (pid_ == 0) {
      manage(directory, command, trials, log, [&](const std::string& line) {
        ATTUNE_CHECK(::write(ends[1], line.data(), line.size()) >= 0);
      });
      ::_exit(0);
    }
    ::close(ends[1]);
    read_.reset(ends[0]);
  }
  ~Manager() { kill(); }

  // Until so many lines came in all, or the manager has ended.
  void read_until(int lines, Log& log) {
    while (log.lines < lines && read(log)) {
    }
  }
  // kill -9, and what it wrote until then.
  void kill_and_read(Log& log) {
    kill();
    while (read(log)) {
    }
  }

 private:
  bool read(Log& log) {
    char buffer[4096];
    const ssize_t size = ::read(read_.get(), buffer, sizeof buffer);
    if (size <= 0) return false;
    rest_.append(buffer, static_cast<std::size_t>(size));
    for (std::size_t end = 0; (end = rest_.find('\n')) != std::string::npos;) {
      log.take(rest_.substr(0, end));
      rest_.erase(0, end + 1);
    }
    return true;
  }
  void kill() {
    if (pid_ <= 0) return;
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
    pid_ = 0;
  }

  pid_t pid_ = 0;
  UniqueFd read_;
  std::string rest_;
};

void kill_and_wait(pid_t pid) {
  const UniqueFd process(::pidfd_open(pid, 0));
  REQUIRE(process.get() >= 0);
  ::kill(pid, SIGKILL);
  pollfd end{process.get(), POLLIN, 0};
  REQUIRE(::poll(&end, 1, 600'000) == 1);
}

TEST_CASE("local adoption: whenever managers are killed, everything is delivered exactly once") {
  constexpr int kTrials = 12;
  const std::string command =
      "for i in 0 1 2; do report PERIODICAL $i $i; done; report FINAL 0 7; exit 0";
  // After so many things were written down by all managers; each trial gives up to seven.
  for (const int first : {1, 5, 9, 16, 30, 50}) {
    CAPTURE(first);
    TemporaryFolder folder;
    Log log;
    for (int round = 0; round < 3; ++round) {
      Manager manager(folder.path, command, kTrials, log);
      manager.read_until(log.lines + first, log);
      manager.kill_and_read(log);
    }
    manage(folder.path, command, kTrials, log, [&](const std::string& line) { log.take(line); });
    for (int i = 0; i < kTrials; ++i) {
      const std::string job = fmt::format("t{}", i);
      CAPTURE(job);
      CHECK(log.ended.count(job) == 1);
      CHECK(log.reports[job] ==
            std::vector<std::string>{"PERIODICAL 0", "PERIODICAL 1", "PERIODICAL 2", "FINAL 0"});
      CHECK(read_text(folder.path / "experiment/trials" / job / "spool.0").find("exit") !=
            std::string::npos);
    }
  }
}

// Starts t0 under a manager that is killed as soon as the trial has said that it is ready.
void start_and_kill(const fs::path& directory, const std::string& command) {
  Lifeline ready(directory / "ready");
  Log log;
  Manager manager(directory, "echo ready > ready; " + command, 1, log);
  REQUIRE(ready.wait_for_byte());
  manager.kill_and_read(log);
}

TEST_CASE("local adoption: a trial runs on without a manager, and under the next one") {
  TemporaryFolder folder;
  make_fifo(folder.path / "go");
  const double before = SystemClock().now();
  start_and_kill(folder.path, "report PERIODICAL 0 1; read x < go; report FINAL 0 2; exit 3");
  const double began = SystemClock().now();
  LocalFixture f(folder, "true");
  const double adopted = SystemClock().now();
  CHECK(f.adopt(trial_start(0), 0) == Adoption::taken);
  CHECK_FALSE(f.try_start(trial_start(0, 1)).has_value());
  CHECK_FALSE(f.adopt(trial_start(0), 0).has_value());
  REQUIRE(f.run_until([&] { return f.reports.size() == 1; }));
  // How long it has run meanwhile is not the difference of two times of a clock that can be set.
  REQUIRE(f.places.size() == 1);
  constexpr double kTick = 0.02;  // of /proc, and more
  CHECK(f.places[0].ran >= adopted - began - kTick);
  CHECK(f.places[0].ran <= SystemClock().now() - before + kTick);
  CHECK(f.reports[0].ran.value() <= f.places[0].ran + kTick);
  std::ofstream(folder.path / "go") << "on\n";
  REQUIRE(f.run_to_end());
  CHECK(f.reports.size() == 2);
  CHECK(f.finished[0].detail == "exit code 3");
  SECTION("and when it has ended, the next one learns how") {
    LocalFixture g(folder, "true");
    CHECK(g.adopt(trial_start(0), f.reports[0].position) == Adoption::taken);
    REQUIRE(g.run_to_end());
    REQUIRE(g.reports.size() == 1);
    CHECK(g.reports[0].text == f.reports[1].text);
    CHECK(g.finished[0].how == Ending::failed);
    CHECK(g.finished[0].time == f.finished[0].time);
  }
}

TEST_CASE("local adoption: a trial that is being stopped goes on being stopped") {
  TemporaryFolder folder;
  make_fifo(folder.path / "never");
  const std::string command =
      "trap 'echo > told; read x < never' TERM; echo ready > ready; "
      "while true; do read x < never; done";
  const auto options = [](LocalBackendOptions& changed) { changed.stop_grace = 600s; };
  const bool pause = GENERATE(false, true);
  Lifeline told(folder.path / "told");
  {
    LocalFixture f(command, [&](LocalBackendOptions& changed) {
      options(changed);
      changed.code_directory = folder.path;
    });
    f.backend->set_path(folder.path / "experiment");
    Lifeline ready(folder.path / "ready");
    f.start();
    REQUIRE(ready.wait_for_byte());
    pause ? f.backend->pause("t0") : f.backend->stop("t0");
    REQUIRE(told.wait_for_byte());
    f.backend.reset();  // does not end it
  }
  LocalFixture f(folder, "true");
  CHECK(f.adopt(trial_start(0), 0) == Adoption::taken);
  f.backend->kill_all();
  REQUIRE(f.run_to_end());
  CHECK(f.finished[0].how == (pause ? Ending::paused : Ending::stopped));
}

TEST_CASE("local adoption: what never started is told, also when files were made for it") {
  TemporaryFolder folder;
  LocalFixture f(folder, "report FINAL 0 1");
  CHECK(f.adopt(trial_start(0), 0) == Adoption::not_started);
  fs::create_directories(f.trial(1));
  CHECK(f.adopt(trial_start(1), 0) == Adoption::not_started);
  std::ofstream empty(f.trial(1) / "spool.0");
  CHECK(f.adopt(trial_start(1), 0) == Adoption::not_started);
  f.start(1);
  REQUIRE(f.run_to_end());
  CHECK(f.reports.size() == 1);
}

TEST_CASE("local adoption: a shim that is killed takes its trial with it") {
  // One process stays in the group of the command, one hides in a session of its own.
  const std::string command =
      "report PERIODICAL 0 1; exec 9> line; setsid bash -c 'printf x >&9; read x < never' & "
      "report PERIODICAL 1 1; printf x >&9; read x < never";
  TemporaryFolder folder;
  make_fifo(folder.path / "never");
  Lifeline line(folder.path / "line");
  const fs::path spool = folder.path / "experiment/trials/t0/spool.0";
  SECTION("while the manager lives") {
    LocalFixture f(folder, command);
    f.start();
    REQUIRE(line.wait_for_byte());
    REQUIRE(line.wait_for_byte());
    REQUIRE(f.run_until([&] { return f.reports.size() == 2; }));
    ::kill(pid_in_spool(spool, "shim"), SIGKILL);
    REQUIRE(f.run_to_end());
    CHECK(f.finished[0].how == Ending::lost);
    CHECK(f.finished[0].detail == "its shim was killed");
  }
  SECTION("while there is none") {
    start_and_kill(folder.path, command);
    REQUIRE(line.wait_for_byte());
    REQUIRE(line.wait_for_byte());
    kill_and_wait(pid_in_spool(spool, "shim"));
    LocalFixture f(folder, "true");
    CHECK(f.adopt(trial_start(0), 0) == Adoption::lost);
    REQUIRE(f.run_to_end());
    CHECK(f.finished[0].how == Ending::lost);
    CHECK(f.reports_before_end <= 2);
  }
  CHECK(line.wait_for_end());
}

TEST_CASE("local adoption: a trial whose files are gone is lost, and does not run on") {
  TemporaryFolder folder;
  make_fifo(folder.path / "never");
  Lifeline line(folder.path / "line");
  start_and_kill(folder.path, "exec 9> line; echo x >&9; read x < never");
  REQUIRE(line.wait_for_byte());
  const fs::path trial = folder.path / "experiment/trials/t0";
  SECTION("its spool") { fs::remove(trial / "spool.0"); }
  SECTION("the content of its spool, and its shim") {
    kill_and_wait(pid_in_spool(trial / "spool.0", "shim"));
    fs::resize_file(trial / "spool.0", 0);
  }
  SECTION("all") { fs::remove_all(trial); }
  LocalFixture f(folder, "true");
  CHECK(f.adopt(trial_start(0), 0) == Adoption::lost);
  REQUIRE(f.run_to_end());
  CHECK(f.finished[0].how == Ending::lost);
  CHECK(f.finished[0].detail.find("files") != std::string::npos);
  CHECK(line.wait_for_end());
  CHECK(f.adopt(trial_start(0), 0) == Adoption::not_started);
}

TEST_CASE("local adoption: a trial whose spool cannot be read does not run on") {
  TemporaryFolder folder;
  make_fifo(folder.path / "never");
  Lifeline line(folder.path / "line");
  start_and_kill(folder.path, "exec 9> line; echo x >&9; read x < never");
  REQUIRE(line.wait_for_byte());
  const fs::path spool = folder.path / "experiment/trials/t0/spool.0";
  fs::remove(spool);
  make_fifo(spool);
  LocalFixture f(folder, "true");
  CHECK_FALSE(f.adopt(trial_start(0), 0).has_value());
  CHECK(line.wait_for_end());
}

TEST_CASE("local adoption: what another user says of a trial is not believed") {
  if (::geteuid() != 0) return;  // only root can give files away
  constexpr uid_t kNobody = 65534;
  LocalFixture f("report FINAL 0 0.5");
  f.start();
  REQUIRE(f.run_to_end());
  const fs::path path = GENERATE(false, true) ? f.trial() : f.trial() / "spool.0";
  REQUIRE(::chown(path.c_str(), kNobody, kNobody) == 0);
  LocalFixture next(f.own, "true");
  const auto adopted = next.adopt(trial_start(0), 0);
  REQUIRE_FALSE(adopted);
  CHECK(adopted.error().message.find(path.string() + " belongs to another user") == 0);
}

TEST_CASE("local adoption: GPUs stay with the trials that have them") {
  TemporaryFolder folder;
  make_fifo(folder.path / "never");
  const auto options = [&](LocalBackendOptions& changed) {
    changed.gpus = GpuUse::assign;
    changed.gpu_indices = {5, 6};
    changed.code_directory = folder.path;
  };
  const auto [count, next] = GENERATE(table<double, std::string>({{1, "6\n"}, {0.5, "5\n"}}));
  const auto start = [gpus = count](int sequence) {
    TrialStart result = trial_start(sequence);
    result.resources.gpu = gpus;
    return result;
  };
  {
    LocalFixture f("report PERIODICAL 0 1; read x < never", options);
    f.backend->set_path(folder.path / "experiment");
    REQUIRE(f.try_start(start(0)).has_value());
    f.backend.reset();
  }
  LocalFixture f("echo $CUDA_VISIBLE_DEVICES", options);
  f.backend->set_path(folder.path / "experiment");
  REQUIRE(f.adopt(start(0), 0) == Adoption::taken);
  REQUIRE(f.run_until([&] { return f.reports.size() == 1; }));
  REQUIRE(f.try_start(start(1)).has_value());
  REQUIRE(f.run_to_end());
  CHECK(read_text(folder.path / "experiment/trials/t1/stdout") == next);
}

}  // namespace attune::local_adoption_test
