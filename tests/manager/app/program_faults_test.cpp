// What a hostile user does to a manager that runs.
#include <poll.h>
#include <signal.h>
#include <sys/stat.h>

#include <catch2/catch.hpp>

#include "manager/store/schema.h"
#include "tests/manager/app/running_program.h"

namespace attune::program_faults_test {

namespace fs = std::filesystem;

// An experiment of three trials, the first of which waits to be told to go on.
class Waiting : public RunningProgram {
 public:
  explicit Waiting(const std::string& trial = "report FINAL 1") {
    for (const char* name : {"go", "line"}) ::mkfifo((folder.path / name).c_str(), 0600);
    line_.reset(::open((folder.path / "line").c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC));
    go_.reset(::open((folder.path / "go").c_str(), O_RDWR | O_CLOEXEC));
    folder.write("[ $NNI_TRIAL_SEQ_ID = 0 ] && { echo ready > line; read x < go; }; " + trial,
                 "trialConcurrency: 1\nmaxTrialNumber: 3\n");
    spawn({"run", "e.yaml", "--dir", "exp", "--daemon", FAKE_DAEMON});
    pollfd waited{line_.get(), POLLIN, 0};
    REQUIRE(::poll(&waited, 1, 600'000) == 1);
  }
  void go() const { REQUIRE(::write(go_.get(), "\n", 1) == 1); }
  void take_store_away() const {
    for (const char* ending : {"", "-wal", "-shm"})
      fs::remove(folder.path / "exp" / (std::string("attune.sqlite") + ending));
  }

 private:
  UniqueFd line_, go_;
};

TEST_CASE("attune run: a store that is deleted meanwhile is written anew") {
  Waiting run;
  run.take_store_away();
  run.go();
  CHECK(run.code() == 0);
  CHECK(run.folder.text("err").find("written anew") != std::string::npos);
  const auto trials = run.folder.trials();
  REQUIRE(trials.size() == 3);
  for (const StoredTrial& trial : trials) CHECK(trial.trial.status == TrialStatus::succeeded);
}

TEST_CASE("attune run: its folder is moved away meanwhile") {
  Waiting run;
  fs::rename(run.folder.path / "exp", run.folder.path / "elsewhere");
  run.go();
  CHECK(run.code() == 0);
  CAPTURE(run.folder.text("err"));
  const auto trials = run.folder.trials();
  REQUIRE(trials.size() == 3);
  CHECK(trials[2].trial.status == TrialStatus::succeeded);
}

TEST_CASE("attune run: another program that writes to the store is waited for") {
  Waiting run;
  {
    Database other = open_for_writing(run.folder.path / "exp", schema_steps(), 60).value();
    REQUIRE(other.execute("BEGIN IMMEDIATE"));
    run.go();
    run.wait_for("nothing is started until this can be written");
    CHECK(run.folder.text("err").find("another process holds it") != std::string::npos);
    REQUIRE(other.execute("ROLLBACK"));
  }
  CHECK(run.code() == 0);
  const auto trials = run.folder.trials();
  REQUIRE(trials.size() == 3);
  for (const StoredTrial& trial : trials) CHECK(trial.trial.status == TrialStatus::succeeded);
}

TEST_CASE("attune run: a signal while the store cannot be written ends with 130") {
  const int signal = GENERATE(SIGINT, SIGTERM);
  Waiting run;
  run.take_store_away();
  fs::create_directory(run.folder.path / "exp" / "attune.sqlite");
  run.wait_for("nothing is started until this can be written");
  ::kill(run.process->pid(), signal);
  CHECK(run.code() == 130);
  const std::string said = run.folder.text("err");
  CHECK(said.find("no trial was stopped for it") != std::string::npos);
  CHECK(said.find("is no regular file") != std::string::npos);
  run.go();  // to its trial, which runs on
}

TEST_CASE("attune run: of several final results the first one counts") {
  ProgramFolder folder;
  folder.write("report FINAL 1; report FINAL 2", "maxTrialNumber: 1\n");
  const Run run = folder.run_experiment({"--json"});
  REQUIRE(run.code == 0);
  CHECK(parse_json(run.out).value()["best"]["score"] == 1.0);
  const auto trials = folder.trials();
  REQUIRE(trials[0].reports.size() == 2);
  CHECK(trials[0].reports[0].ignored.empty());
  CHECK(trials[0].reports[1].ignored.find("final result before") != std::string::npos);
}

TEST_CASE("attune: output that cannot be written is an error") {
  ProgramFolder folder;
  folder.write("report FINAL 1");
  REQUIRE(folder.run_experiment().code == 0);
  fs::remove(folder.path / "out");
  fs::create_symlink("/dev/full", folder.path / "out");
  const std::string run = std::string("run e.yaml --dir other --json --daemon ") + FAKE_DAEMON;
  for (const std::string command :
       {"list", "status", "best", "trials", "export", "show t0000", "--help", run.c_str()}) {
    CAPTURE(command);
    std::vector<std::string> arguments;
    std::istringstream words(command);
    for (std::string word; words >> word;) arguments.push_back(word);
    if (arguments.front() != "run" && arguments.front() != "--help")
      arguments.insert(arguments.end(), {"--dir", "exp"});
    CHECK(folder.code_of(arguments) == 1);
    CHECK(folder.text("err").find("cannot write standard output: No space left on device") !=
          std::string::npos);
  }
  fs::remove(folder.path / "out");
}

TEST_CASE("attune: messages that cannot be written stop nothing") {
  ProgramFolder folder;
  folder.write("report FINAL 1");
  fs::create_symlink("/dev/full", folder.path / "err");
  CHECK(folder.code_of({"run", "e.yaml", "--dir", "exp", "--daemon", FAKE_DAEMON}) == 0);
  CHECK(folder.trials().size() == 3);
  CHECK(folder.code_of({"resume", "--dir", "nowhere"}) == 2);
  CHECK(folder.code_of({"list", "--dir", "nowhere"}) == 1);
  CHECK(folder.code_of({"unknown"}) == 2);
  fs::remove(folder.path / "err");  // reading it would never end
}

TEST_CASE("attune: folders without a store, and stores that are none, are told apart") {
  ProgramFolder folder;
  folder.write("report FINAL 1");
  REQUIRE(folder.run_experiment().code == 0);
  const fs::path store = folder.path / "exp" / "attune.sqlite";
  const auto said = [&](const std::string& command) {
    return folder.run({command, "--dir", "exp"}).err;
  };
  fs::remove(store);
  CHECK(said("resume").find("holds trials, but") != std::string::npos);
  CHECK(folder.run_experiment().err.find("whose attune.sqlite is gone") != std::string::npos);
  std::ofstream(store).close();
  CHECK(said("status").find("is empty") != std::string::npos);
  fs::remove(store);
  fs::create_directory(store);
  CHECK(said("status").find("is a directory") != std::string::npos);
  fs::remove(store);
  REQUIRE(::mkfifo(store.c_str(), 0600) == 0);
  CHECK(said("status").find("no regular file") != std::string::npos);
}

TEST_CASE("attune: names cannot move the cursor of a terminal") {
  ProgramFolder folder;
  folder.write("report FINAL 1", "maxTrialNumber: 1\nexperimentName: \"a\\e[31mb\\x9b\"\n");
  const Run run = folder.run_experiment();
  CAPTURE(run.err);
  for (const char* command : {"list", "status"}) {
    const Run shown = folder.run({command, "--dir", "exp"});
    CAPTURE(shown.out);
    CHECK(shown.code == 0);
    CHECK(shown.out.find('\x1b') == std::string::npos);
    CHECK(shown.out.find("a\\x1b[31mb\\x9b") != std::string::npos);
  }
  CHECK(folder.run({"show", "t\x1b[31m", "--dir", "exp"}).err.find("\\x1b[31m") !=
        std::string::npos);
}

}  // namespace attune::program_faults_test
