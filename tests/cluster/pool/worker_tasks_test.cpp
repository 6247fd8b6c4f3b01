#include "cluster/pool/worker/worker_tasks.h"

#include <sys/file.h>

#include <catch2/catch.hpp>

#include "cluster/pool/trial_event.h"
#include "tests/cluster/pool/coordinator_world.h"
#include "tests/cluster/pool/pool_in_process.h"

namespace attune::worker_tasks_test {

using namespace attune::test;
using Texts = std::vector<std::string>;

TrialFinished end_of(const PoolInProcess& pool, const std::string& id) {
  const auto event =
      parse_trial_event(job_of(id), *parse_json(pool.coordinator.board().tasks().at(id).report));
  REQUIRE(event.has_value());
  return std::get<TrialFinished>(*event);
}

// A worker and one trial, t0, whose manager is away: little has room until somebody acknowledges.
struct Unheard : PoolInProcess {
  explicit Unheard(const std::string& what, int attempts = 1) {
    command =
        "[ $NNI_TRIAL_SEQ_ID$ATTUNE_ATTEMPT = 00 ] && { report PERIODICAL 0 0; read x < go; }; " +
        what;
    acknowledge = false;
    start_worker("w");
    workers["w"].tasks->set_most_unacknowledged(1);
    TaskSpec spec = trial(0);
    spec.limits.attempts = attempts;
    REQUIRE(coordinator.submit(spec, now));
  }
  std::string spool() const { return read_text(folder.path / "experiment/trials/t0/spool.0"); }
  // The first report is too much already when the trial goes on: the worker cannot be so slow that
  // it reads it together with the others.
  bool until_written(const std::string& words) {
    if (!run_until([&] { return !reports("e-t0-0").empty(); })) return false;
    go.let(1);
    return run_until([&] { return spool().find(words) != std::string::npos; });
  }

  Gate go{folder.path / "go"};
};

TEST_CASE("worker tasks: trials run, report and end") {
  PoolInProcess pool;
  pool.command = "report PERIODICAL 0 1; report FINAL 0 NaN; exit $NNI_TRIAL_SEQ_ID";
  pool.start_worker("w");
  for (int i = 0; i < 3; ++i) REQUIRE(pool.coordinator.submit(pool.trial(i), pool.now));
  REQUIRE(pool.run_until(
      [&] { return pool.ended("e-t0-0") && pool.ended("e-t1-0") && pool.ended("e-t2-0"); }));
  for (int i = 0; i < 3; ++i) {
    const std::string id = fmt::format("e-t{}-0", i);
    CHECK(pool.reports(id) == Texts{"1", "null"});
    const TrialFinished end = end_of(pool, id);
    CHECK(end.how == (i == 0 ? Ending::succeeded : Ending::failed));
    CHECK(end.cpu_seconds > 0);
  }
  CHECK(pool.run_until([&] { return pool.workers["w"].tasks->idle(); }));
}

TEST_CASE("worker tasks: a worker that was killed goes on with what runs") {
  PoolInProcess pool;
  Gate go(pool.folder.path / "go");
  pool.command = "report PERIODICAL 0 1; read x < go; report FINAL 0 2";
  pool.start_worker("w");
  REQUIRE(pool.coordinator.submit(pool.trial(0), pool.now));
  REQUIRE(pool.run_until([&] { return pool.reports("e-t0-0").size() == 1; }));
  const bool knew = GENERATE(false, true);
  if (knew)
    REQUIRE(
        pool.run_until([&] { return pool.coordinator.board().tasks().at("e-t0-0").position > 0; }));
  pool.kill_worker("w");
  go.let(4);
  pool.start_worker("w");
  REQUIRE(pool.run_until([&] { return pool.ended("e-t0-0"); }));
  CHECK(pool.reports("e-t0-0") == Texts{"1", "2"});
  CHECK(end_of(pool, "e-t0-0").how == Ending::succeeded);
  CHECK(std::ranges::count(pool.records, Edge::leased, &Record::edge) == 1);
}

TEST_CASE(
    "worker tasks: what an earlier process was told of its infos is nothing to the next one") {
  PoolInProcess pool;
  const Gate never(pool.folder.path / "never");
  pool.command = "report PERIODICAL 0 1; read x < never";
  pool.acknowledge = false;
  pool.start_worker("w");
  REQUIRE(pool.coordinator.submit(pool.trial(0), pool.now));
  const auto infos = [&] {
    return std::ranges::count_if(pool.heard, [](const json& m) { return m["type"] == "info"; });
  };
  REQUIRE(pool.run_until([&] { return infos() == 1; }));
  const auto first = std::ranges::find(pool.heard, "info", [](const json& m) { return m["type"]; });
  const std::uint64_t seq = (*first)["seq"];
  pool.kill_worker("w");
  pool.start_worker("w");
  REQUIRE(pool.run_until([&] { return infos() == 2; }));  // it has read the spool anew
  // The client's, for what the first one said.
  pool.coordinator.acknowledge("e-t0-0", seq, 0);
  REQUIRE(pool.run_until([&] { return pool.workers["w"].inbox.empty(); }));
  pool.cut("w");
  pool.connect("w");
  CHECK(pool.run_until([&] { return infos() == 3; }));
  pool.coordinator.cancel("e-t0-0", "kill", "", pool.now);
  CHECK(pool.run_until([&] { return pool.ended("e-t0-0"); }));
}

TEST_CASE("worker tasks: what is said while nobody hears it is said again") {
  PoolInProcess pool;
  Gate go(pool.folder.path / "go");
  pool.command = "read x < go; report PERIODICAL 0 1; report FINAL 0 2";
  pool.start_worker("w");
  REQUIRE(pool.coordinator.submit(pool.trial(0), pool.now));
  REQUIRE(pool.run_until(
      [&] { return pool.coordinator.board().tasks().at("e-t0-0").state == TaskState::running; }));
  pool.cut("w");
  go.let(4);
  REQUIRE(pool.run_until([&] {
    return fs::exists(pool.folder.path / "experiment/trials/t0/spool.0") &&
           read_text(pool.folder.path / "experiment/trials/t0/spool.0").find("\nexit ") !=
               std::string::npos;
  }));
  pool.connect("w");
  REQUIRE(pool.run_until([&] { return pool.ended("e-t0-0"); }));
  CHECK(pool.reports("e-t0-0") == Texts{"1", "2"});
  CHECK(end_of(pool, "e-t0-0").how == Ending::succeeded);
  CHECK(pool.run_until([&] { return pool.workers["w"].tasks->idle(); }));
}

TEST_CASE("worker tasks: stopping and pausing") {
  PoolInProcess pool;
  const Gate never(pool.folder.path / "never");
  pool.command = "report PERIODICAL 0 1; read x < never";
  pool.start_worker("w");
  REQUIRE(pool.coordinator.submit(pool.trial(0), pool.now));
  const std::string how = GENERATE("stop", "pause", "kill");
  if (GENERATE(false, true))
    REQUIRE(pool.run_until([&] { return pool.reports("e-t0-0").size() == 1; }));
  pool.coordinator.cancel("e-t0-0", how, "", pool.now);
  REQUIRE(pool.run_until([&] { return pool.ended("e-t0-0"); }));
  CHECK(pool.coordinator.board().tasks().at("e-t0-0").state == TaskState::cancelled);
  CHECK(end_of(pool, "e-t0-0").how == (how == "pause" ? Ending::paused : Ending::stopped));
}

TEST_CASE("worker tasks: a fenced attempt is killed, and the next one runs beside no other") {
  PoolInProcess pool;
  Gate go(pool.folder.path / "go");
  pool.command = "report PERIODICAL 0 $ATTUNE_ATTEMPT; read x < go; report FINAL 0 $ATTUNE_ATTEMPT";
  pool.start_worker("w");
  TaskSpec spec = pool.trial(0);
  spec.limits.attempts = 2;
  REQUIRE(pool.coordinator.submit(spec, pool.now));
  REQUIRE(pool.run_until([&] { return pool.reports("e-t0-0").size() == 1; }));
  pool.cut("w");
  pool.now += 20;
  pool.coordinator.tick(pool.now);
  CHECK(pool.coordinator.board().tasks().at("e-t0-0").state == TaskState::queued);
  const bool same_process = GENERATE(false, true);
  if (same_process) {
    pool.connect("w");
  } else {
    pool.kill_worker("w");
    pool.start_worker("w");
  }
  REQUIRE(pool.run_until([&] {
    const Task& task = pool.coordinator.board().tasks().at("e-t0-0");
    return task.attempt == 1 && task.state == TaskState::running;
  }));
  go.let(4);
  REQUIRE(pool.run_until([&] { return pool.ended("e-t0-0"); }));
  CHECK(pool.coordinator.board().tasks().at("e-t0-0").attempt == 1);
  CHECK(end_of(pool, "e-t0-0").how == Ending::succeeded);
  const std::string first = read_text(pool.folder.path / "experiment/trials/t0/spool.0");
  CHECK(first.find("FINAL") == std::string::npos);  // it was killed before it went on
}

TEST_CASE("worker tasks: an attempt waits for one that runs where nobody can reach it") {
  PoolInProcess pool;
  pool.command = "report FINAL 0 $ATTUNE_ATTEMPT";
  pool.start_worker("w");
  // As its shim holds it, on a machine whose processes are not to be seen from here.
  const fs::path trial = pool.folder.path / "experiment/trials/t0";
  fs::create_directories(trial);
  UniqueFd held(::open((trial / "spool.0").c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
  REQUIRE(::flock(held.get(), LOCK_EX) == 0);
  REQUIRE(pool.coordinator.submit(pool.trial(0, 1), pool.now));
  REQUIRE(
      pool.run_until([&] { return !pool.heard.empty() && pool.heard.back()["type"] == "info"; }));
  CHECK_THAT(dump_json(pool.heard.back()), Catch::Contains("attempt 0 still ran"));
  CHECK(pool.coordinator.board().tasks().at("e-t0-1").state == TaskState::leased);
  held = UniqueFd();
  REQUIRE(pool.run_until([&] { return pool.ended("e-t0-1"); }));
  CHECK(end_of(pool, "e-t0-1").how == Ending::succeeded);
  CHECK(pool.reports("e-t0-1") == Texts{"1"});
}

TEST_CASE("worker tasks: what this machine cannot run is refused") {
  PoolInProcess pool;
  pool.command = "true";
  TaskSpec spec = pool.trial(0);
  fs::remove(pool.folder.path / "experiment.json");
  pool.start_worker("w");
  REQUIRE(pool.coordinator.submit(spec, pool.now));
  REQUIRE(
      pool.run_until([&] { return !pool.coordinator.board().tasks().at("e-t0-0").cause.empty(); }));
  CHECK(pool.coordinator.board().tasks().at("e-t0-0").cause ==
        "worker w cannot run it: there is no " + (pool.folder.path / "experiment.json").string());
  CHECK(pool.workers["w"].tasks->idle());
}

TEST_CASE("worker tasks: reports are not read while too many are not acknowledged") {
  Unheard pool("for i in $(seq 2000); do report PERIODICAL $i $i; done");
  REQUIRE(pool.until_written("\nexit "));
  REQUIRE_FALSE(pool.ended("e-t0-0"));
  CHECK(pool.reports("e-t0-0").size() == 1);
  pool.acknowledge = true;
  const auto first =
      std::ranges::find_if(pool.heard, [](const json& each) { return each.at("type") == "info"; });
  const auto seq = first->at("seq").get<std::uint64_t>();
  pool.coordinator.acknowledge("e-t0-0", seq, 0);
  REQUIRE(pool.run_until([&] { return pool.ended("e-t0-0"); }));
  CHECK(pool.reports("e-t0-0").size() == 2001);
}

TEST_CASE("worker tasks: a cancel reaches a trial of which nobody acknowledges anything") {
  Unheard pool(
      "mkfifo never; for i in $(seq 2000); do report PERIODICAL $i $i; done; read x < never");
  REQUIRE(pool.until_written("\"sequence\": 2000,"));
  pool.coordinator.cancel("e-t0-0", "stop", "", pool.now);
  REQUIRE(pool.run_until([&] { return pool.ended("e-t0-0"); }));
  CHECK(end_of(pool, "e-t0-0").how == Ending::stopped);
  CHECK(pool.spool().find("\nexit ") != std::string::npos);
  // Whoever comes back learns from it how much there is to be read in the spool.
  CHECK(pool.reports("e-t0-0").size() == 1);
  CHECK((*parse_json(pool.coordinator.board().tasks().at("e-t0-0").report))["position"] > 10'000);
}

TEST_CASE("worker tasks: an attempt that was lost while nobody acknowledged it makes room") {
  Unheard pool(
      "[ $ATTUNE_ATTEMPT = 1 ] && exit; mkfifo never; "
      "for i in $(seq 2000); do report PERIODICAL $i $i; done; read x < never",
      2);
  REQUIRE(pool.until_written("\"sequence\": 2000,"));
  pool.cut("w");
  pool.now += 20;
  pool.coordinator.tick(pool.now);
  CHECK(pool.coordinator.board().tasks().at("e-t0-0").state == TaskState::queued);
  pool.connect("w");
  REQUIRE(pool.run_until([&] { return pool.ended("e-t0-0"); }));
  CHECK(end_of(pool, "e-t0-0").how == Ending::succeeded);
  CHECK(pool.run_until([&] { return pool.workers["w"].tasks->idle(); }));
}

TEST_CASE("worker tasks: one that is to go does not wait for who is away") {
  Unheard pool("for i in $(seq 2000); do report PERIODICAL $i $i; done");
  REQUIRE(pool.until_written("\nexit "));
  CHECK_FALSE(pool.workers["w"].tasks->resting());
  pool.workers["w"].tasks->vacate("its worker was stopped");
  REQUIRE(pool.run_until([&] { return pool.workers["w"].tasks->resting(); }));
  REQUIRE(pool.run_until([&] { return pool.ended("e-t0-0"); }));
  CHECK(end_of(pool, "e-t0-0").how == Ending::lost);  // but for its spool, which managers read
}

TEST_CASE("worker tasks: a program that cannot be understood is refused and nobody is cut off") {
  PoolInProcess pool;
  pool.start_worker("w");
  TaskSpec spec = pool.trial(0);
  spec.program = GENERATE(as<std::string>(), "", "7", "{}", R"({"experiment": "e", "job": "t"})",
                          R"({"experiment": "e", "job": "t", "sequence": 0,
                              "attempt": 3000000000, "parameters": "{}"})");
  REQUIRE(pool.coordinator.submit(spec, pool.now));
  REQUIRE(pool.run_until(
      [&] { return pool.coordinator.board().tasks().at("e-t0-0").state == TaskState::queued; }));
  CHECK_THAT(pool.coordinator.board().tasks().at("e-t0-0").cause,
             Catch::StartsWith("worker w cannot run it: program: "));
  CHECK(pool.workers["w"].tasks->idle());
}

TEST_CASE("worker tasks: nonsense is an error and changes nothing") {
  PoolInProcess pool;
  pool.start_worker("w");
  const auto text =
      GENERATE(as<std::string>(), "{}", R"({"type": "x", "task": "a", "lease": 1})",
               R"({"type": "lease"})", R"({"type": "lease", "task": "a", "lease": 0})",
               R"({"type": "lease", "task": "a", "lease": 1, "program": "x"})",
               R"({"type": "lease", "task": "a", "lease": 1, "program": "{}"})");
  const auto handled = pool.workers["w"].tasks->handle(*parse_json(text));
  const bool unknown = text.find("\"x\", \"task\"") != std::string::npos;
  CHECK(handled.has_value() == unknown);  // a word about a task that is forgotten is no mistake
  CHECK(pool.workers["w"].tasks->idle());
}

TEST_CASE("worker tasks: the absent manager of one experiment does not hold up another one") {
  Unheard pool(
      "[ $NNI_TRIAL_SEQ_ID = 1 ] || for i in $(seq 2000); do report PERIODICAL $i $i; done");
  REQUIRE(pool.until_written("\nexit "));
  TaskSpec other = pool.trial(1);
  std::ofstream(pool.folder.path / "other.json") << "{}";
  json program = *parse_json(other.program);
  program["experiment"] = (pool.folder.path / "other.json").string();
  other.program = dump_json(program);
  REQUIRE(pool.coordinator.submit(other, pool.now));
  REQUIRE(pool.run_until([&] { return pool.ended("e-t1-0"); }));
  CHECK_FALSE(pool.ended("e-t0-0"));
}

TEST_CASE("worker tasks: what ran under a lost worker is ended by whoever comes under its name") {
  PoolInProcess pool;
  Gate never(pool.folder.path / "never");
  pool.command = "report PERIODICAL 0 1; read x < never";
  pool.start_worker("w");
  TaskSpec spec = pool.trial(0);
  spec.limits.attempts = 2;
  REQUIRE(pool.coordinator.submit(spec, pool.now));
  REQUIRE(pool.run_until([&] { return pool.reports("e-t0-0").size() == 1; }));
  pool.kill_worker("w");
  pool.now += 16;
  pool.coordinator.tick(pool.now);  // it is given up
  pool.start_worker("w", 0.5);      // too small for the next attempt
  const fs::path spool = pool.folder.path / "experiment/trials/t0/spool.0";
  REQUIRE(pool.run_until([&] { return read_text(spool).find("\nexit ") != std::string::npos; }));
  REQUIRE(pool.run_until([&] { return pool.workers["w"].tasks->idle(); }));
  const Task& task = pool.coordinator.board().tasks().at("e-t0-0");
  CHECK(task.state == TaskState::queued);
  CHECK(task.attempt == 1);
}

}  // namespace attune::worker_tasks_test
