#pragma once
// A folder with an experiment for the Slurm of the tests, and the program attune to run it.
#include <signal.h>

#include <chrono>
#include <set>

#include "tests/runner/program_folder.h"
#include "tests/slurm/slurm_world.h"

namespace attune {

class SlurmExperiment {
 public:
  SlurmExperiment(const std::string& command, const std::string& more) {
    folder_.write(command, more);
    // The trials' working directory is the folder; Slurm's programs find the world by this.
    folder_.environment = {"SLURM_CONF=" + slurm_world().path("slurm.conf").string()};
  }
  // Nothing of it outlives the test, whatever failed.
  ~SlurmExperiment() {
    process_.reset();
    if (std::filesystem::exists(folder_.path / "exp" / "coordinator")) kill_coordinator();
  }

  ChildProcess* start(const std::vector<std::string>& arguments) {
    exit_.reset();
    process_ = folder_.spawn(io_, arguments, [this](ExitStatus status) { exit_ = status; });
    return process_.get();
  }
  bool await(const std::function<bool()>& enough) {
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(60);
    while (!enough()) {
      if (std::chrono::steady_clock::now() > deadline) return false;
      io_.restart();
      io_.run_one_for(std::chrono::milliseconds(20));
    }
    return true;
  }
  // What it has said.
  std::string await_end() {
    const bool over = await([this] { return exit_.has_value(); });
    UNSCOPED_INFO(text("err") + text("exp/coordinator/coordinator.log"));
    REQUIRE(over);
    return text("out") + text("err") + text("exp/coordinator/coordinator.log");
  }
  int code() const { return exit_->signal == 0 ? exit_->code : -exit_->signal; }

  std::string text(const std::string& name) const { return folder_.text(name); }
  std::vector<std::string> lines(const std::string& name) const {
    std::istringstream stream(text(name));
    std::vector<std::string> all;
    for (std::string line; std::getline(stream, line);) all.push_back(line);
    return all;
  }
  bool log_says(const std::string& what, int times) const {
    int found = 0;
    for (const std::string& line : lines("exp/coordinator/coordinator.log"))
      found += line.find(what) != std::string::npos ? 1 : 0;
    return found >= times;
  }
  void touch(const std::string& name) const { std::ofstream(folder_.path / name) << ""; }
  std::vector<StoredTrial> trials() const { return folder_.trials(); }

  // kill -9 of the process whose command line names this experiment's coordinator.
  void kill_coordinator() const {
    const std::string mine = (folder_.path / "exp" / "coordinator").string();
    for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
      const std::string pid = entry.path().filename();
      if (pid.find_first_not_of("0123456789") != std::string::npos) continue;
      std::ifstream file(entry.path() / "cmdline");
      std::string words(std::istreambuf_iterator<char>(file), {});
      std::ranges::replace(words, '\0', ' ');
      if (words.find("attune coordinator --dir " + mine + " ") != std::string::npos)
        ::kill(std::stoi(pid), SIGKILL);
    }
  }

 private:
  boost::asio::io_context io_;
  ProgramFolder folder_;
  std::optional<ExitStatus> exit_;
  std::unique_ptr<ChildProcess> process_;
};

}  // namespace attune
