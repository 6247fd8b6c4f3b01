#pragma once
// A LocalBackend with real processes.
#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <stdio.h>
#include <sys/stat.h>

#include <catch2/catch.hpp>
#include <fstream>
#include <set>
#include <sstream>

#include "backends/local/local_backend.h"
#include "os/unique_fd.h"
#include "tests/support/run_until.h"
#include "tests/support/temporary_folder.h"

namespace attune::test {

namespace fs = std::filesystem;
using namespace std::chrono_literals;

inline std::string read_text(const fs::path& path) {
  std::ifstream stream(path, std::ios::binary);
  std::stringstream text;
  text << stream.rdbuf();
  return text.str();
}

// A shell function `report TYPE SEQUENCE VALUE` before the command.
inline const std::string kReport = R"(report() {
  r="{\"parameter_id\": 0, \"trial_job_id\": \"$NNI_TRIAL_JOB_ID\", \"type\": \"$1\", \"sequence\": $2, \"value\": \"$3\"}"
  printf 'ME%06d%s\n' $((${#r}+1)) "$r" >> "$NNI_SYS_DIR/.nni/metrics"
}
)";

inline LocalBackendOptions local_options(const fs::path& directory, const std::string& command) {
  LocalBackendOptions options;
  options.experiment_id = "experiment";
  options.command = kReport + command;
  options.code_directory = directory;
  options.environment = {"PATH=/usr/bin:/bin", "NNI_TRIAL_COMMAND_CHANNEL=http://outer",
                         "ATTUNE_OUTER=x", "KEPT=yes"};
  options.shim = ATTUNE_SHIM;
  return options;
}

inline TrialStart trial_start(int sequence, int attempt = 0, const std::string& checkpoint = "") {
  TrialStart start;
  start.job_id = fmt::format("t{}", sequence);
  start.sequence = sequence;
  start.attempt = attempt;
  start.parameter_text = R"({"parameter_id": 0, "parameters": {"lr": 0.5, "name": "a b"}})";
  start.checkpoint = checkpoint;
  return start;
}

inline pid_t pid_in_spool(const fs::path& spool, const std::string& type) {
  const std::string text = read_text(spool);
  const std::size_t record = text.find(type + " ");
  const std::size_t pid = text.find("pid=", record);
  REQUIRE(pid != std::string::npos);
  return std::stoi(text.substr(pid + 4));
}

// A backend, and all the events that it gave.
class LocalFixture {
 public:
  explicit LocalFixture(const std::string& command) : LocalFixture(command, [](auto&) {}) {}
  template <class Change>
  LocalFixture(const std::string& command, Change change) {
    directory = own.path;
    LocalBackendOptions options = local_options(directory, command);
    change(options);
    make(options);
  }
  // Upon what another backend left in `other`.
  LocalFixture(const TemporaryFolder& other, const std::string& command) : directory(other.path) {
    make(local_options(directory, command));
  }
  // A failed test leaves nothing running.
  ~LocalFixture() {
    if (!backend) return;
    try {
      backend->kill_all();
      run_until([this] { return running.empty(); });
    } catch (const std::exception& error) {
      ::fputs(error.what(), stderr);
    }
  }

  void start(int sequence = 0, int attempt = 0, const std::string& checkpoint = "") {
    const auto started = try_start(trial_start(sequence, attempt, checkpoint));
    if (!started) FAIL(started.error().message);
  }
  Result<void> try_start(const TrialStart& trial) {
    auto started = backend->start(trial);
    if (started) running.insert(trial.job_id);
    return started;
  }
  Result<TrialBackend::Adoption> adopt(const TrialStart& trial, std::uint64_t position) {
    auto adopted = backend->adopt(trial, position);
    if (adopted && *adopted != TrialBackend::Adoption::not_started) running.insert(trial.job_id);
    return adopted;
  }

  // Fetches until `enough()`; false when that took too long.
  bool run_until(const std::function<bool()>& enough) {
    return test::run_until(io, enough, [this] {
      if (std::exchange(woken, false)) fetch();
    });
  }
  bool run_to_end(std::size_t trials = 1) {
    return run_until([this, trials] { return finished.size() == trials; });
  }
  bool run_to_stored(std::size_t count) {
    return run_until([this, count] { return stored.size() == count; });
  }

  fs::path trial(int sequence = 0) const {
    return directory / "experiment/trials" / fmt::format("t{}", sequence);
  }

 private:
  void make(const LocalBackendOptions& options) {
    auto made = LocalBackend::create(io, options, [this] { woken = true; });
    REQUIRE(made.has_value());
    backend = std::move(*made);
    backend->set_path(directory / "experiment");
  }
  void fetch() {
    for (TrialEvent& event : backend->fetch_status_results()) {
      if (auto* report = std::get_if<TrialReport>(&event)) reports.push_back(std::move(*report));
      if (auto* place = std::get_if<TrialPlace>(&event)) places.push_back(std::move(*place));
      if (auto* problem = std::get_if<TrialProblem>(&event)) problems.push_back(problem->text);
      if (auto* saved = std::get_if<CheckpointStored>(&event)) stored.push_back(std::move(*saved));
      if (auto* end = std::get_if<TrialFinished>(&event)) {
        reports_before_end = reports.size();
        running.erase(end->job_id);
        finished.push_back(std::move(*end));
      }
    }
  }

 public:
  TemporaryFolder own;
  boost::asio::io_context io;
  fs::path directory;
  bool woken = false;
  std::unique_ptr<LocalBackend> backend;
  std::set<std::string> running;  // job ids: no end was fetched yet
  std::vector<TrialReport> reports;
  std::vector<TrialPlace> places;
  std::vector<std::string> problems;
  std::vector<CheckpointStored> stored;
  std::vector<TrialFinished> finished;
  std::size_t reports_before_end = 0;
};

inline void make_fifo(const fs::path& path) { ::mkfifo(path.c_str(), 0600); }

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
    return ::poll(&waited, 1, 600'000) == 1 ? ::read(read_.get(), &byte, 1) : -1;
  }

  UniqueFd read_;
};

}  // namespace attune::test
