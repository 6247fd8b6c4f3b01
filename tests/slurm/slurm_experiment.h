#pragma once
// A folder with an experiment for the Slurm of the tests, and the program attune to run it.
#include <signal.h>

#include <chrono>
#include <set>

#include "tests/manager/app/program_folder.h"
#include "tests/slurm/slurm_world.h"

namespace attune {

// First attempts wait for the test; later ones end at once.
inline constexpr const char* kGated =
    "echo \"$NNI_TRIAL_JOB_ID $SLURM_JOB_NAME $ATTUNE_ATTEMPT $SLURMD_NODENAME\" >> ran; "
    "until test -e go || test $ATTUNE_ATTEMPT -gt 0; do sleep 0.1; done; report FINAL 1";
// All wait, save when they are told to end, and say when they go on from what was saved.
inline constexpr const char* kSaving =
    "c=$ATTUNE_CHECKPOINT_DIR; test ! -e $c/saved || echo $NNI_TRIAL_JOB_ID >> resumed; "
    "trap 'mkdir -p $c; touch $c/saved; exit 0' TERM; "
    "echo \"$NNI_TRIAL_JOB_ID $SLURM_JOB_NAME $ATTUNE_ATTEMPT $SLURMD_NODENAME\" >> ran; "
    "until test -e go; do sleep 0.1; done; report FINAL 1";

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
  bool await(const std::function<bool()>& enough, int seconds = 60) {
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(seconds);
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
  void write(const std::string& name, const std::string& content) const {
    std::ofstream(folder_.path / name) << content;
  }
  void touch(const std::string& name) const { std::ofstream(folder_.path / name) << ""; }
  std::vector<StoredTrial> trials() const { return folder_.trials(); }

  // Of the line of `ran` that an attempt has written: the trial and the job; the node.
  std::pair<std::string, std::string> ran(std::size_t line) const {
    std::istringstream words(lines("ran").at(line));
    std::pair<std::string, std::string> result;
    words >> result.first >> result.second;
    return result;
  }
  std::string node(std::size_t line) const {
    const std::string text = lines("ran").at(line);
    return text.substr(text.rfind(' ') + 1);
  }

  void check_all_succeeded(std::size_t count) const {
    const auto all = trials();
    CHECK(all.size() == count);
    for (const StoredTrial& trial : all) {
      CHECK(trial.trial.status == TrialStatus::succeeded);
      CHECK(trial.trial.final_metric == 1);
      int counted = 0;  // nothing twice
      for (const StoredReport& report : trial.reports)
        counted += report.type == "final" && report.ignored.empty() && !report.late ? 1 : 0;
      CHECK(counted == 1);
    }
  }
  int lost() const {  // attempts
    int count = 0;
    for (const StoredTrial& trial : trials()) {
      for (const StoredAttempt& attempt : trial.attempts) {
        UNSCOPED_INFO(trial.trial.job_id << " attempt " << attempt.attempt << ": "
                                         << attempt.detail);
        count += attempt.ending == Ending::lost ? 1 : 0;
      }
    }
    return count;
  }
  std::string lost_because() const {  // the first
    for (const StoredTrial& trial : trials()) {
      for (const StoredAttempt& attempt : trial.attempts)
        if (attempt.ending == Ending::lost) return attempt.detail;
    }
    return "";
  }

  // kill -9 of this experiment's coordinator.
  void kill_coordinator() const {
    kill_all_with("attune coordinator --dir " + (folder_.path / "exp" / "coordinator").string() +
                  " ");
  }
  // kill -9 of the processes whose command lines have these words, which are of this test alone;
  // how many there were.
  static int kill_all_with(const std::string& what) {
    int killed = 0;
    for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
      const std::string pid = entry.path().filename();
      if (pid.find_first_not_of("0123456789") != std::string::npos) continue;
      std::ifstream file(entry.path() / "cmdline");
      std::string words(std::istreambuf_iterator<char>(file), {});
      std::ranges::replace(words, '\0', ' ');
      if (words.find(what) != std::string::npos && ::kill(std::stoi(pid), SIGKILL) == 0) ++killed;
    }
    return killed;
  }

 private:
  boost::asio::io_context io_;
  ProgramFolder folder_;
  std::optional<ExitStatus> exit_;
  std::unique_ptr<ChildProcess> process_;
};

}  // namespace attune
