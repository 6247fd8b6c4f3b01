// attune coordinator and attune worker as programs: what they say, and what signals do.
#include <fcntl.h>
#include <signal.h>

#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>

#include "os/process.h"
#include "os/unique_fd.h"
#include "tests/support/temporary_folder.h"

namespace attune::coordinator_program_test {

using Catch::Matchers::Contains;

namespace fs = std::filesystem;

// One learner; its collectors wait for a worker that never comes.
std::string workload(const std::string& learner, const std::string& more = "") {
  return "commander: naive\nlearner:\n  command: |\n    " + learner +
         "\ncollector: {command: 'true', labels: [nobody]}\nbuffer: {policy: fifo}\n" + more;
}

// Programs in a folder, each with a file NAME.err.
struct Programs {
  TemporaryFolder folder;
  std::vector<std::string> environment;  // beside PATH
  boost::asio::io_context io;
  std::map<std::string, ExitStatus> ended;
  std::map<std::string, std::unique_ptr<ChildProcess>> running;

  ~Programs() {
    for (const auto& [name, process] : running)
      if (process->running()) process->kill();
    io.run_for(std::chrono::seconds(200));
  }
  void write(const std::string& name, const std::string& text) const {
    std::ofstream(folder.path / name) << text;
  }
  void start(const std::string& name, const std::vector<std::string>& arguments) {
    const UniqueFd err(::open((folder.path / (name + ".err")).c_str(),
                              O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600));
    ProcessSpec spec;
    spec.arguments = {ATTUNE};
    spec.arguments.insert(spec.arguments.end(), arguments.begin(), arguments.end());
    spec.environment = {"PATH=/usr/bin:/bin"};
    spec.environment.insert(spec.environment.end(), environment.begin(), environment.end());
    spec.directory = folder.path;
    spec.descriptors = {{1, err.get()}, {2, err.get()}};
    running[name] = ChildProcess::spawn(io, spec, [this, name](ExitStatus status) {
                      ended[name] = status;
                    }).value();
  }
  void signal(const std::string& name, int number) { ::kill(running.at(name)->pid(), number); }

  std::string said(const std::string& name) const {
    std::ifstream stream(folder.path / (name + ".err"));
    std::stringstream text;
    text << stream.rdbuf();
    return text.str();
  }
  bool until(const std::function<bool()>& happened) {
    for (int turn = 0; turn < 10'000; ++turn) {
      if (happened()) return true;
      io.restart();
      io.run_for(std::chrono::milliseconds(20));
    }
    return false;
  }
  bool until_said(const std::string& name, const std::string& words) {
    return until([&] { return said(name).find(words) != std::string::npos; });
  }
  bool until_ended(const std::string& name) {
    return until([&] { return ended.contains(name); });
  }
};

TEST_CASE("coordinator program: a task that fails shows what it said") {
  Programs p;
  p.write("w.yaml", workload("echo 'no module named gym' >&2; exit 127", "failures: 1\n"));
  p.start("c", {"coordinator", "w.yaml", "--dir", "pool", "--workers", "1"});
  REQUIRE(p.until_ended("c"));
  CHECK(p.ended["c"].code == 1);
  const std::string err = (p.folder.path / "pool/trials/run-learn-1/stderr").string();
  CHECK_THAT(p.said("c"), Contains("run-learn-1 failed: exit code 127\n  " + err +
                                   ":\n  no module named gym\n"));
}

TEST_CASE("coordinator program: what a task has saved is there for its next attempt") {
  Programs p;
  p.write("w.yaml", workload("echo $ATTUNE_ATTEMPT: $(cat $ATTUNE_CHECKPOINT_DIR/s); "
                             "echo 7 > $ATTUNE_CHECKPOINT_DIR/s; [ $ATTUNE_ATTEMPT = 1 ]\n"
                             "  limits: {attempts: 2}"));
  p.start("c", {"coordinator", "w.yaml", "--dir", "pool", "--workers", "1"});
  REQUIRE(p.until_ended("c"));
  CHECK(p.ended["c"].code == 0);
  std::ifstream file(p.folder.path / "pool/trials/run-learn-1/stdout");
  std::stringstream text;
  text << file.rdbuf();
  CHECK(text.str() == "0:\n1: 7\n");
}

// The numbers of docs/workloads.md, "Running a workload". The first evaluation has a place before
// the collectors have; the second one is due when nothing is free.
TEST_CASE("coordinator program: one learner and three collectors leave room for evaluations") {
  Programs p;
  p.write("evaluate.sh", R"(case $NNI_TRIAL_JOB_ID in *-1) v=1 ;; *) v=195 ;; esac
r="{\"parameter_id\": 0, \"trial_job_id\": \"$NNI_TRIAL_JOB_ID\", \"type\": \"FINAL\", \"sequence\": 0, \"value\": \"$v\"}"
printf 'ME%06d%s\n' $((${#r}+1)) "$r" >> "$NNI_SYS_DIR/.nni/metrics"
)");
  p.write("w.yaml", R"(commander: solo
learner: {command: "while sleep 0.1; do :; done", needs: {cpu: 1}, limits: {attempts: 3, silent: 60}}
collector: {command: "while sleep 0.1; do :; done", needs: {cpu: 1}, limits: {attempts: 3}}
collectors: 3
evaluation: {interval: 1, task: {command: sh evaluate.sh, needs: {cpu: 1}}}
buffer: {policy: prioritised, capacity: 10000}
stop_value: 195
)");
  p.start("c", {"coordinator", "w.yaml", "--dir", "pool", "--workers", "1", "--worker-cpu", "4",
                "--seed", "1"});
  const bool over = p.until_ended("c");
  INFO(p.said("c"));
  REQUIRE(over);
  CHECK(p.ended["c"].code == 0);
  CHECK_THAT(p.said("c"), Contains("run-evaluate-2: 195"));
}

TEST_CASE("coordinator program: a learner that leaves no room for evaluations is an error") {
  Programs p;
  p.write("w.yaml", R"(commander: solo
learner: {command: sleep 1000, needs: {cpu: 2}}
collector: {command: sleep 1000, needs: {cpu: 0.5}}
evaluation: {interval: 1, task: {command: "true", needs: {cpu: 1}}}
buffer: {policy: fifo}
)");
  p.start("c", {"coordinator", "w.yaml", "--dir", "pool", "--workers", "1", "--worker-cpu", "2"});
  REQUIRE(p.until_ended("c"));
  CHECK(p.ended["c"].code == 2);
  CHECK_THAT(p.said("c"), Contains("w.yaml: there is never room for the learner (2 cpu) and an "
                                   "evaluation (1 cpu) at the same time on 1 worker of 2 cpu"));
}

TEST_CASE("coordinator program: a task that no worker may have is told of") {
  Programs p;
  p.write("w.yaml", workload("true\n  needs: {gpu: 1}"));
  p.environment = {"CUDA_VISIBLE_DEVICES=-1"};
  p.start("c", {"coordinator", "w.yaml", "--dir", "pool", "--workers", "1"});
  CHECK(p.until_said("c", "run-learn-1 waits: no worker may have it: local-0 has 0 of 1 gpu"));
  p.signal("c", SIGINT);
  CHECK(p.until_ended("c"));
}

TEST_CASE("coordinator program: an address that nobody can dial is refused") {
  Programs p;
  p.start("c", {"coordinator", "--dir", "pool", "--listen", "0.0.0.0:0"});
  REQUIRE(p.until_ended("c"));
  CHECK(p.ended["c"].code != 0);
  CHECK_THAT(p.said("c"), Contains("--advertise"));
}

TEST_CASE("coordinator program: the second SIGTERM of a worker ends its trials with grace") {
  Programs p;
  p.write("w.yaml", workload("trap 'touch got; exit 0' TERM; touch begun; "
                             "while :; do sleep 0.05; done"));
  p.start("c", {"coordinator", "w.yaml", "--dir", "pool"});
  REQUIRE(p.until_said("c", "listening on"));
  p.start("w", {"worker", "--join", "pool", "--name", "w"});
  REQUIRE(p.until([&] { return fs::exists(p.folder.path / "begun"); }));
  p.signal("w", SIGTERM);
  REQUIRE(p.until_said("w", "takes nothing more"));
  p.signal("w", SIGTERM);
  REQUIRE(p.until_ended("w"));
  CHECK(p.ended["w"].success());
  CHECK(fs::exists(p.folder.path / "got"));
  CHECK(p.until_said("c", "run-learn-1 lost: its worker was stopped"));
  p.signal("c", SIGTERM);
  CHECK(p.until_ended("c"));
}

TEST_CASE("coordinator program: a worker gives out the GPUs that it says it has") {
  Programs p;
  p.environment = {"CUDA_VISIBLE_DEVICES=-1"};  // none is found
  p.write("w.yaml", workload("echo $CUDA_VISIBLE_DEVICES > gpus; sleep 0.1\n  needs: {gpu: 2}"));
  p.start("c", {"coordinator", "w.yaml", "--dir", "pool"});
  REQUIRE(p.until_said("c", "listening on"));
  p.start("w", {"worker", "--join", "pool", "--gpu", "2"});
  REQUIRE(p.until_ended("c"));
  CHECK(p.ended["c"].code == 0);
  std::ifstream file(p.folder.path / "gpus");
  std::string gpus;
  file >> gpus;
  CHECK((gpus == "0,1" || gpus == "1,0"));
}

TEST_CASE("coordinator program: a worker with fewer GPUs than it says does not begin") {
  Programs p;
  p.environment = {"CUDA_VISIBLE_DEVICES=0"};
  p.start("w", {"worker", "--join", "pool", "--gpu", "2"});
  REQUIRE(p.until_ended("w"));
  CHECK(p.ended["w"].code != 0);
  CHECK_THAT(p.said("w"), Contains("--gpu: 2 GPUs are asked for, and this machine has 1"));
}

TEST_CASE("coordinator program: a worker that finds nobody says what it does about it") {
  Programs p;
  const std::string where = (p.folder.path / "pool").string();
  p.start("stays", {"worker", "--join", where, "--name", "stays"});
  p.start("goes", {"worker", "--join", where, "--name", "goes", "--unreachable-after", "1"});
  REQUIRE(p.until_said("stays", "it goes on trying " + where + "/worker.json until it is stopped"));
  CHECK_THAT(p.said("stays"), Contains(std::to_string(p.running.at("stays")->pid())));
  REQUIRE(p.until_ended("goes"));  // after several tries
  const std::string said = p.said("goes");
  const std::string words = "it goes on trying " + where + "/worker.json for 1 s, and goes then";
  REQUIRE_THAT(said, Contains(words));
  CHECK(said.find(words) == said.rfind(words));
  p.signal("stays", SIGTERM);
  CHECK(p.until_ended("stays"));
}

TEST_CASE("coordinator program: a second one in a folder says that it waits for the first") {
  Programs p;
  p.start("c", {"coordinator", "--dir", "pool"});
  REQUIRE(p.until_said("c", "listening on"));
  p.start("d", {"coordinator", "--dir", "pool"});
  REQUIRE(p.until_said("d", "another coordinator runs in"));
  SECTION("which goes") {
    p.signal("c", SIGTERM);
    CHECK(p.until_said("d", "going on"));
    p.signal("d", SIGTERM);
    CHECK(p.until_ended("d"));
  }
  SECTION("which stays") {
    REQUIRE(p.until_ended("d"));
    CHECK(p.ended["d"].code != 0);
    CHECK_THAT(p.said("d"), Contains("is in use by another process"));
    p.signal("c", SIGTERM);
    CHECK(p.until_ended("c"));
  }
}

}  // namespace attune::coordinator_program_test
