// Learners and collectors as jobs of a real Slurm.
#include <catch2/catch.hpp>

#include "tests/slurm/slurm_experiment.h"

namespace attune::slurm_workload_test {

// Learner and collectors go on until they are told to end, also when a signal to all processes of
// their job ends the sleep before the shell; an evaluation ends the run.
constexpr const char* kWorkload = R"(commander: solo
learner:
  command: "echo $NNI_TRIAL_JOB_ID $SLURM_JOB_NAME $ATTUNE_ATTEMPT $SLURMD_NODENAME >> ran; while :; do sleep 0.1; done"
  needs: {cpu: 1}
  limits: {attempts: 3}
collector:
  command: "echo $NNI_TRIAL_JOB_ID $SLURM_JOB_NAME $ATTUNE_ATTEMPT $SLURMD_NODENAME >> ran; while :; do sleep 0.1; done"
  needs: {cpu: 1}
collectors: {min: 2, max: 3}
evaluation:
  interval: 1
  task:
    command: ". ./report.sh; test -e go && report FINAL 1; echo $NNI_TRIAL_JOB_ID $SLURM_JOB_NAME 0 $SLURMD_NODENAME >> ran"
    needs: {cpu: 1}
stop_value: 1
metric: default
buffer: {policy: uniform}
)";

struct SlurmWorkload : SlurmExperiment {
  explicit SlurmWorkload(const std::string& slurm) : SlurmExperiment("true", "") {
    write("w.yaml", kWorkload + ("slurm: " + slurm + "\n"));
    // Where the experiment's coordinator would be: it ends with the test.
    start({"coordinator", "w.yaml", "--dir", "exp/coordinator", "--lost-after", "5s"});
  }
  // Of the tasks whose ids begin so: the jobs in which they ran.
  std::set<std::string> jobs(const std::string& begins) const {
    std::set<std::string> names;
    for (std::size_t i = 0; i < lines("ran").size(); ++i) {
      if (ran(i).first.starts_with(begins)) names.insert(ran(i).second);
    }
    return names;
  }
};

TEST_CASE("slurm: learner and collectors and evaluations of a workload run in jobs") {
  const auto [mode, name] = GENERATE(table<std::string, std::string>(
      {{"{mode: jobs, poll: 1}", "-job-"}, {"{mode: pilots, poll: 1}", "-pilot-"}}));
  SlurmWorkload w(mode);
  const auto both = [&] {
    return w.jobs("run-learn").size() == 1 && w.jobs("run-collect").size() >= 2 &&
           !w.jobs("run-evaluate").empty();
  };
  const bool all_run = w.await(both, 300);
  INFO(w.text("err") + w.text("exp/coordinator/coordinator.log"));
  REQUIRE(all_run);
  for (const std::string& job : w.jobs("run-")) {
    CHECK(job.starts_with("attune-"));
    CHECK(job.find(name) != std::string::npos);
  }
  w.touch("go");
  w.await_end();
  CHECK(w.code() == 0);
  CHECK(w.text("err").ends_with("done\n"));
}

TEST_CASE("slurm: a learner whose job is lost goes on in another one") {
  SlurmWorkload w("{mode: jobs, poll: 1}");
  REQUIRE(w.await([&] { return w.jobs("run-learn").size() == 1; }, 300));
  slurm_world().run("scancel", {"--name=" + *w.jobs("run-learn").begin()});
  const bool again = w.await([&] { return w.jobs("run-learn").size() == 2; }, 300);
  INFO(w.text("err") + w.text("exp/coordinator/coordinator.log"));
  REQUIRE(again);
  w.touch("go");
  w.await_end();
  CHECK(w.code() == 0);
}

}  // namespace attune::slurm_workload_test
