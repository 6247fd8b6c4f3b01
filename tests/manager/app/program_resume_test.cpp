// attune run and resume when the daemon is killed, and when the disk is full for a while.
#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <catch2/catch.hpp>

#include "backends/local/file_watch.h"
#include "base/json.h"
#include "manager/store/schema.h"
#include "tests/manager/app/program_folder.h"
#include "tests/support/run_until.h"

namespace attune::program_resume_test {

// How often the daemon has heard a command of this code.
int heard(const ProgramFolder& folder, const std::string& code) {
  std::istringstream lines(folder.text("heard"));
  int count = 0;
  for (std::string line; std::getline(lines, line);) count += line.starts_with(code + " ") ? 1 : 0;
  return count;
}

void remember(ProgramFolder& folder) {
  folder.environment = {"FAKE_JOURNAL=" + (folder.path / "journal").string(),
                        "FAKE_LOG=" + (folder.path / "heard").string()};
}

TEST_CASE("attune run: a daemon that is killed is started again, and no trial notices") {
  ProgramFolder folder;
  remember(folder);
  folder.environment.emplace_back("FAKE_DIE=" + std::string(GENERATE("before 5", "after 5")));
  folder.write("report PERIODICAL 0.5; report FINAL $NNI_TRIAL_SEQ_ID");
  const Run run = folder.run_experiment({"--json"});
  CAPTURE(run.err);
  REQUIRE(run.code == 0);
  CHECK(run.err.find("killed by signal 9 (Killed)") != std::string::npos);
  CHECK(run.err.find("it is started again, and goes on where it was") != std::string::npos);
  const json summary = parse_json(run.out).value();
  CHECK(summary["trials"]["succeeded"] == 3);
  for (const StoredTrial& trial : folder.trials()) {
    CHECK(trial.attempts.size() == 1);
    CHECK(trial.reports.size() == 2);
    CHECK(dump_json(trial.trial.proposed.parameters) ==
          fmt::format(R"({{"x":{}}})", trial.trial.sequence));
  }
}

TEST_CASE("attune resume: goes on exactly, and tells the daemon nothing that it knows") {
  ProgramFolder folder;
  remember(folder);
  folder.write("report PERIODICAL 0.5; report FINAL $NNI_TRIAL_SEQ_ID");
  REQUIRE(folder.run_experiment().code == 0);
  const int reports = heard(folder, "ME");
  SECTION("with a daemon that remembers") {
    const Run run =
        folder.run({"resume", "--dir", "exp", "--max-trials", "5", "--daemon", FAKE_DAEMON});
    CAPTURE(run.err);
    REQUIRE(run.code == 0);
    CHECK(heard(folder, "FD") == 0);
    CHECK(heard(folder, "AD") == 0);
    CHECK(heard(folder, "ME") == reports + 4);
    const auto trials = folder.trials();
    REQUIRE(trials.size() == 5);
    CHECK(dump_json(trials[4].trial.proposed.parameters) == R"({"x":4})");
  }
  SECTION("with one that cannot go on, the user is told, and it is told the results") {
    folder.environment.emplace_back("FAKE_THROUGH=none");
    const Run run =
        folder.run({"resume", "--dir", "exp", "--max-trials", "5", "--daemon", FAKE_DAEMON});
    CAPTURE(run.err);
    REQUIRE(run.code == 0);
    CHECK(run.err.find("warning: attuned could not go on where it was") != std::string::npos);
    CHECK(heard(folder, "FD") == 1);
    CHECK(folder.trials().size() == 5);
  }
  SECTION("with one of another store nothing is done") {
    folder.environment.emplace_back("FAKE_THROUGH=+1");
    const Run run =
        folder.run({"resume", "--dir", "exp", "--max-trials", "5", "--daemon", FAKE_DAEMON});
    CHECK(run.code != 0);
    CHECK(run.err.find("do not belong together") != std::string::npos);
    CHECK(folder.trials().size() == 3);
  }
}

TEST_CASE("attune resume: an experiment from before there were conversations goes on") {
  ProgramFolder folder;
  remember(folder);
  folder.write("report FINAL $NNI_TRIAL_SEQ_ID");
  REQUIRE(folder.run_experiment().code == 0);
  {
    Database database = open_for_writing(folder.path / "exp", schema_steps(), 1).value();
    REQUIRE(database
                .execute("DROP TABLE outbox; DROP TABLE conversations; "
                         "ALTER TABLE attempts DROP COLUMN worker; "
                         "ALTER TABLE attempts DROP COLUMN host; "
                         "ALTER TABLE attempts DROP COLUMN ran; "
                         "ALTER TABLE attempts DROP COLUMN gpus; "
                         "ALTER TABLE reports DROP COLUMN ran; "
                         "ALTER TABLE reports DROP COLUMN counts; "
                         "ALTER TABLE decisions DROP COLUMN attempt; "
                         "ALTER TABLE decisions DROP COLUMN ends; "
                         "ALTER TABLE events DROP COLUMN trial; "
                         "ALTER TABLE experiments DROP COLUMN ran; PRAGMA user_version = 1")
                .has_value());
  }
  const Run old = folder.run({"status", "--dir", "exp"});
  CHECK(old.err.find("older attune") != std::string::npos);
  const Run run =
      folder.run({"resume", "--dir", "exp", "--max-trials", "4", "--daemon", FAKE_DAEMON});
  CAPTURE(run.err);
  REQUIRE(run.code == 0);
  CHECK(heard(folder, "FD") == 1);
  CHECK(run.err.find("could not go on") == std::string::npos);
  CHECK(folder.trials().size() == 4);
}

TEST_CASE("attune resume: a copy does not go on in the folder of the original") {
  const ProgramFolder folder;
  folder.write("report FINAL 1");
  REQUIRE(folder.run_experiment().code == 0);
  const auto original = folder.path / "exp", copy = folder.path / "copy";
  std::filesystem::copy(original, copy, std::filesystem::copy_options::recursive);
  const auto resume = [&](const std::string& where) {
    return folder.run({"resume", "--dir", where, "--max-trials", "4", "--daemon", FAKE_DAEMON});
  };
  const Run refused = resume("copy");
  CHECK(refused.code == 2);
  CHECK(refused.err.find("attune.sqlite is a copy: experiment") != std::string::npos);
  CHECK(refused.err.find("attune resume --dir " + original.string()) != std::string::npos);
  std::filesystem::remove_all(original);
  const Run gone = resume("copy");
  CHECK(gone.code == 2);
  CHECK(gone.err.find(original.string() + ", is gone; move it back") != std::string::npos);
  std::filesystem::rename(copy, original);
  CHECK(resume("exp").code == 0);
  CHECK(folder.trials().size() == 4);
}

TEST_CASE("attune run: a disk that is full for a while costs no trial") {
  ProgramFolder folder;
  remember(folder);
  ::mkfifo((folder.path / "go").c_str(), 0600);
  ::mkfifo((folder.path / "line").c_str(), 0600);
  const UniqueFd line(::open((folder.path / "line").c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC));
  const UniqueFd go(::open((folder.path / "go").c_str(), O_RDWR | O_CLOEXEC));
  folder.write("[ $NNI_TRIAL_SEQ_ID = 0 ] && { echo ready > line; read x < go; }; report FINAL 1",
               "trialConcurrency: 1\nmaxTrialNumber: 3\n");
  boost::asio::io_context io;
  std::optional<ExitStatus> exit;
  const auto process = folder.spawn(io, {"run", "e.yaml", "--dir", "exp", "--daemon", FAKE_DAEMON},
                                    [&](ExitStatus status) { exit = status; });
  pollfd waited{line.get(), POLLIN, 0};
  REQUIRE(::poll(&waited, 1, 600'000) == 1);
  // No file of the manager's may grow any more. Its log and this test's files are small.
  rlimit limit{};
  REQUIRE(::prlimit(process->pid(), RLIMIT_FSIZE, nullptr, &limit) == 0);
  rlimit lower = limit;
  lower.rlim_cur = 64 << 10;
  REQUIRE(::prlimit(process->pid(), RLIMIT_FSIZE, &lower, nullptr) == 0);
  REQUIRE(::write(go.get(), "\n", 1) == 1);
  const auto watch = FileWatch::create(io, [](int) {}).value();
  REQUIRE(watch->add(folder.path / "err").has_value());
  while (folder.text("err").find("nothing is started until this can be written") ==
         std::string::npos) {
    REQUIRE(io.run_one_for(std::chrono::seconds(600)) == 1);
    REQUIRE_FALSE(exit.has_value());
  }
  // What could be forgotten is not promised.
  const Run refused = folder.run({"kill", "t0000", "--dir", "exp"});
  CAPTURE(refused.err);
  CHECK(refused.code != 0);
  CHECK(refused.err.find("the store cannot be written") != std::string::npos);
  REQUIRE(::prlimit(process->pid(), RLIMIT_FSIZE, &limit, nullptr) == 0);
  REQUIRE(test::run_until(io, [&] { return exit.has_value(); }));
  CAPTURE(folder.text("err"));
  CHECK(exit->code == 0);
  CHECK(folder.text("err").find("the store can be written again") != std::string::npos);
  for (const StoredTrial& trial : folder.trials()) {
    CHECK(trial.trial.status == TrialStatus::succeeded);
    CHECK(trial.attempts.size() == 1);
    CHECK(trial.reports.size() == 1);
  }
  CHECK(heard(folder, "ME") == 3);
}

TEST_CASE("attune run: what it makes is for its user alone") {
  ProgramFolder folder;
  remember(folder);
  folder.write("report FINAL 1");
  REQUIRE(folder.run_experiment().code == 0);
  std::error_code error;
  int seen = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder.path / "exp")) {
    if (entry.is_symlink()) continue;
    CAPTURE(entry.path().string());
    const auto mode = entry.status().permissions() & std::filesystem::perms::all;
    using std::filesystem::perms;
    CHECK((mode & (perms::group_all | perms::others_all)) == perms::none);
    ++seen;
  }
  CHECK(seen > 10);
  // And a link in its place is not followed.
  for (const char* name : {"log/runner.log", "log/attuned.stderr", "lock"}) {
    CAPTURE(name);
    std::filesystem::remove(folder.path / "exp" / name);
    std::filesystem::create_symlink(folder.path / "precious", folder.path / "exp" / name);
    const Run run =
        folder.run({"resume", "--dir", "exp", "--max-trials", "4", "--daemon", FAKE_DAEMON});
    CHECK(run.code != 0);
    CHECK(run.err.find("no regular file") != std::string::npos);
    CHECK_FALSE(std::filesystem::exists(folder.path / "precious"));
    std::filesystem::remove(folder.path / "exp" / name);
  }
}

}  // namespace attune::program_resume_test
