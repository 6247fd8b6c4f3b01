// What becomes of trials that end in every bad way: real processes under the real program.
#include <fmt/format.h>
#include <signal.h>
#include <sys/stat.h>

#include "tests/manager/app/program_folder.h"

namespace attune::outcomes_test {

using Catch::Contains;

// The trial with number i does what line i says.
std::string one_of(const std::vector<std::string>& commands) {
  std::string script = "case $NNI_TRIAL_SEQ_ID in\n";
  for (std::size_t i = 0; i < commands.size(); ++i)
    script += fmt::format("  {}) {} ;;\n", i, commands[i]);
  return script + "  esac";
}

TEST_CASE("attune run: every bad end has its outcome and a reason that can be read") {
  const ProgramFolder folder;
  ::mkfifo((folder.path / "never").c_str(), 0600);
  ::mkfifo((folder.path / "ready").c_str(), 0600);
  folder.write(
      one_of({
          "kill -SEGV $$",
          "kill -KILL $$",
          "report FINAL 1; exit 7",
          "exit 0",
          "report FINAL NaN",
          "(setsid sh -c 'echo $$ > daemon.pid; echo > ready; read x < never' &) ; read x < "
          "ready; report FINAL 2",
          "head -c 100000000 /dev/zero | tr '\\\\0' x; report FINAL 3",
          R"(awk -v id=7 -v job=$NNI_TRIAL_JOB_ID 'BEGIN {
      for (i = 0; i < 100000; ++i) {
        r = "{\"parameter_id\": " id ", \"trial_job_id\": \"" job "\", \"type\": \"PERIODICAL\", \"sequence\": " i ", \"value\": \"0.5\"}"
        printf "ME%06d%s\n", length(r) + 1, r
      } }' >> $NNI_SYS_DIR/.nni/metrics; report FINAL 4)",
      }),
      "trialConcurrency: 3\nmaxTrialNumber: 8\n");
  const Run run = folder.run_experiment({"--json"});
  CAPTURE(run.err);
  CHECK(run.code == 0);
  const std::vector<StoredTrial> trials = folder.trials();
  REQUIRE(trials.size() == 8);
  const auto check = [&](int i, TrialStatus status, const std::string& reason) {
    INFO("trial " << i);
    CHECK(to_text(trials[i].trial.status) == to_text(status));
    CHECK_THAT(trials[i].trial.reason, Contains(reason));
  };
  check(0, TrialStatus::failed, "killed by signal 11 (Segmentation fault)");
  check(1, TrialStatus::failed, "killed by signal 9 (Killed)");
  check(2, TrialStatus::failed, "exit code 7");
  check(3, TrialStatus::succeeded, "");
  CHECK(trials[3].trial.final_metric.is_null());
  check(4, TrialStatus::succeeded, "");
  CHECK_FALSE(trials[4].trial.score().has_value());
  CHECK_THAT(run.err,
             Contains("trial t0004: the final metric") && Contains("is neither a finite number"));
  check(5, TrialStatus::succeeded, "");
  const int left = std::stoi(folder.text("daemon.pid"));
  CHECK((::kill(left, 0) != 0 && errno == ESRCH));
  check(6, TrialStatus::succeeded, "");
  CHECK(std::filesystem::file_size(folder.path / "exp/trials/t0006/stdout") < 70'000'000);
  check(7, TrialStatus::succeeded, "");
  CHECK(trials[7].trial.reports == 100'000);
  CHECK(trials[7].reports.size() == 100'001);

  const Run show = folder.run({"show", "t0000", "--dir", "exp"});
  CHECK(show.code == 0);
  CHECK_THAT(show.out, Contains("failed, killed by signal 11 (Segmentation fault)"));
}

TEST_CASE("attune run: a trial that hangs and ignores SIGTERM is stopped by its time limit") {
  const ProgramFolder folder;
  ::mkfifo((folder.path / "never").c_str(), 0600);
  // No other trial: on a busy machine none is sure to end within a second.
  folder.write("trap '' TERM; while true; do read x < never; done",
               "maxTrialNumber: 1\nmaxTrialDuration: 1s\n");
  folder.run_experiment();
  const std::vector<StoredTrial> trials = folder.trials();
  REQUIRE(trials.size() == 1);
  CHECK(trials[0].trial.status == TrialStatus::early_stopped);
  CHECK(trials[0].trial.reason == "maxTrialDuration is over");
  REQUIRE(trials[0].attempts.size() == 1);
  CHECK(trials[0].attempts[0].ending == Ending::stopped);
}

}  // namespace attune::outcomes_test
