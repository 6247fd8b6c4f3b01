// Mode jobs for tasks that name no worker, as learners and collectors: a job for each that waits.
#include <catch2/catch.hpp>

#include "tests/cluster/batch/operator_world.h"

namespace attune::operator_task_jobs_test {

using namespace attune::test;
using Names = std::vector<std::string>;

struct TaskJobs : OperatorWorld {
  TaskJobs() {
    options.tasks_name_workers = false;
    start();
    pass(0);  // what there is, before anything is submitted
  }
  void submit(const std::string& id, double cpu = 1, int attempts = 1) {
    TaskSpec spec = trial_task(id, cpu);
    spec.limits.attempts = attempts;
    REQUIRE(world->coordinator.submit(spec, now()).has_value());
    settle();
  }
};

TEST_CASE("operator task jobs: a job of its size for each task that waits") {
  TaskJobs w;
  w.submit("learn", 2);
  w.submit("collect-1", 0);
  w.submit("collect-2", 0);
  REQUIRE(w.batch->names() == Names{"e-job-1-1", "e-job-1-2", "e-job-1-3"});
  CHECK(w.batch->submitted[0].needs.cpu == 2);
  CHECK(w.batch->submitted[1].needs.cpu == 1);  // what asks for nothing has one, too
  CHECK_THAT(w.batch->submitted[1].script, Catch::Contains("--tasks 1 --leave-after"));
  w.come("e-job-1-1", 2);
  CHECK(w.task("learn").worker == "e-job-1-1");
  CHECK(w.batch->submitted.size() == 3);
}

TEST_CASE("operator task jobs: another attempt gets another job") {
  TaskJobs w;
  w.submit("learn", 1, 2);
  w.come("e-job-1-1");
  w.world->start("learn");
  w.batch->end("e-job-1-1", BatchCause::time_limit);
  w.lose("e-job-1-1");
  w.pass(20);
  CHECK(w.task("learn").attempt == 1);
  CHECK_THAT(w.task("learn").cause, Catch::Contains("reached its time limit"));
  CHECK(w.batch->names() == Names{"e-job-1-1", "e-job-1-2"});
}

TEST_CASE("operator task jobs: labels that no job has are told of") {
  TaskJobs w;
  TaskSpec spec = trial_task("labelled");
  spec.labels = {"fast"};
  REQUIRE(w.world->coordinator.submit(spec, w.now()).has_value());
  w.settle();
  CHECK(w.batch->submitted.empty());
  REQUIRE(!w.explained.empty());
  CHECK(w.explained[0] == "labelled: no worker in a job of Slurm has labels, and it asks for some");
}

TEST_CASE("operator jobs: what names no worker is told that it gets none") {
  OperatorWorld w;
  REQUIRE(w.world->coordinator.submit(trial_task("other"), w.now()).has_value());
  w.settle();
  CHECK(w.batch->submitted.empty());
  REQUIRE(!w.explained.empty());
  CHECK_THAT(w.explained[0], Catch::Contains("for the trials of its own experiment only"));
}

}  // namespace attune::operator_task_jobs_test
