#include "tests/cluster/pool/pool_fixture.h"

#include <catch2/catch.hpp>
#include <thread>

#include "backends/report/spool_reader.h"

namespace attune::pool_backend_test {

using namespace attune::test;
using Texts = std::vector<std::string>;

TEST_CASE("pool backend: trials run as they do on this machine") {
  PoolFixture f;
  f.command = "report PERIODICAL 0 1; echo out; echo err >&2; report FINAL 0 $NNI_TRIAL_SEQ_ID";
  f.start_server();
  f.start_worker("v");
  f.start_worker("w");
  f.start_backend();
  for (int i = 0; i < 8; ++i) REQUIRE(f.backend->start(trial_start(i)));
  CHECK_FALSE(f.backend->start(trial_start(0)));
  REQUIRE(f.run_to_end(8));
  for (const TrialFinished& end : f.ends) CHECK(end.how == Ending::succeeded);
  CHECK(f.values("t3") == Texts{"1", "3"});
  CHECK(read_text(f.folder.path / "experiment/trials/t3/stdout") == "out\n");
  CHECK(read_text(f.backend->stderr_path("t3")) == "err\n");
  CHECK(f.forgotten());
  CHECK(f.problems.empty());
}

TEST_CASE("pool backend: its last words are heard before it goes") {
  PoolFixture f;
  f.command = "report FINAL 0 1";
  f.start_server();
  f.start_worker("w");
  f.start_backend();
  REQUIRE(f.backend->start(trial_start(0)));
  REQUIRE(f.run_to_end());
  f.backend->finish(false);
  REQUIRE(f.run_until([&] { return !f.backend->connected(); }));
  CHECK(f.server->coordinator().board().tasks().empty());
}

TEST_CASE("pool backend: it says of each trial whether it waits or runs") {
  PoolFixture f;
  make_fifo(f.folder.path / "never");
  f.command = "report PERIODICAL 0 1; read x < never";
  f.start_backend();
  REQUIRE(f.backend->start(trial_start(0)));
  const auto waits_for = [&](const std::string& what) {
    return f.run_until([&] {
      return !f.places.empty() && f.places.back().waits_for.find(what) != std::string::npos;
    });
  };
  REQUIRE(waits_for("waits for the coordinator, which cannot be reached: cannot open "));
  CHECK_THAT(f.backend->unreachable(), Catch::Contains("cannot open "));
  REQUIRE(f.backend->start(trial_start(1)));
  CHECK(waits_for("which cannot be reached"));
  f.backend->stop("t1");
  REQUIRE(f.run_to_end());
  f.start_server();
  const auto& tasks = f.server->coordinator().board().tasks();
  REQUIRE(f.run_until([&] { return !tasks.empty(); }));
  REQUIRE(waits_for("waits for a worker"));
  CHECK(f.backend->unreachable().empty());
  f.start_worker("w");
  REQUIRE(f.run_until([&] { return f.reports.size() == 1; }));
  CHECK(f.places.back().waits_for.empty());
  CHECK(f.places.back().worker == "w");
  CHECK(f.places.back().host == f.server->coordinator().workers().workers().at("w").hello.host);
  f.backend->stop("t0");
  REQUIRE(f.run_to_end(2));
}

TEST_CASE("pool backend: how long a trial has run does not depend on the other machine's clock") {
  PoolFixture f;
  ManualClock behind(SystemClock().wall() - 300);
  f.server_clock = &behind;
  make_fifo(f.folder.path / "never");
  f.command = "report PERIODICAL 0 1; read x < never";
  f.start_trial();
  REQUIRE(f.places.back().waits_for.empty());
  CHECK(f.places.back().ran >= 0);
  CHECK(f.places.back().ran < 300);
  // Another manager comes, after some time.
  f.backend.reset();
  f.places.clear();
  behind.advance(1000);
  f.start_backend();
  REQUIRE(f.backend->adopt(trial_start(0), 0));
  REQUIRE(f.run_until([&] { return !f.places.empty() && f.places.back().waits_for.empty(); }));
  CHECK(f.places.back().ran >= 1000);
  CHECK(f.places.back().ran < 1300);
  f.backend->stop("t0");
  REQUIRE(f.run_to_end());
}

// A trial that never ends by itself; without a worker it does not begin.
void start_perhaps(PoolFixture& f, bool worker) {
  make_fifo(f.folder.path / "never");
  f.command = "report PERIODICAL 0 1; read x < never";
  f.start_server();
  if (worker) f.start_worker("w");
  f.start_backend();
  REQUIRE(f.backend->start(trial_start(0)));
  REQUIRE(f.run_until([&] {
    return worker ? f.reports.size() == 1 : !f.server->coordinator().board().tasks().empty();
  }));
}

TEST_CASE("pool backend: stop and pause reach a trial, also one that has not begun") {
  PoolFixture f;
  start_perhaps(f, GENERATE(false, true));
  const bool pause = GENERATE(false, true);
  pause ? f.backend->pause("t0") : f.backend->stop("t0");
  REQUIRE(f.run_to_end());
  CHECK(f.ends[0].how == (pause ? Ending::paused : Ending::stopped));
  CHECK(f.forgotten());
}

TEST_CASE("pool backend: what is asked for while there is no coordinator waits for it") {
  PoolFixture f;
  f.command = "report FINAL 0 1";
  f.start_backend();
  REQUIRE(f.backend->start(trial_start(0)));
  REQUIRE(f.backend->start(trial_start(1)));
  f.backend->stop("t1");
  REQUIRE(f.run_until([&] { return !f.states.empty(); }));
  f.start_server();
  f.start_worker("w", 4);
  REQUIRE(f.run_to_end(2));
  for (const TrialFinished& end : f.ends)
    CHECK(end.how == (end.job_id == "t0" ? Ending::succeeded : Ending::stopped));
}

TEST_CASE("pool backend: what the coordinator was never told of ends without it") {
  PoolFixture f;
  f.start_backend();
  REQUIRE(f.backend->start(trial_start(0)));
  REQUIRE(f.backend->start(trial_start(1)));
  REQUIRE(f.backend->start(trial_start(2)));
  REQUIRE(f.backend->adopt(trial_start(3), 0));  // that one it may know
  f.backend->stop("t0");
  f.backend->pause("t1");
  f.backend->kill_all();
  REQUIRE(f.run_to_end(3));
  for (const TrialFinished& end : f.ends)
    CHECK(end.how == (end.job_id == "t1" ? Ending::paused : Ending::stopped));
  f.start_server();
  REQUIRE(f.run_to_end(4));
  CHECK(f.ends[3].how == Ending::stopped);
  CHECK(f.forgotten());
}

TEST_CASE("pool backend: a manager that was killed has every report once") {
  PoolFixture f;
  Gate go(f.folder.path / "go");
  f.command = "report PERIODICAL 0 1; report PERIODICAL 1 2; read x < go; report FINAL 0 3";
  f.start_trial(2);
  const std::uint64_t position = f.reports[GENERATE(0, 1)].position;
  std::erase_if(f.reports, [&](const TrialReport& report) { return report.position > position; });
  f.backend.reset();
  const bool ended = GENERATE(false, true);  // while it was away
  if (ended) {
    go.let(1);
    REQUIRE(f.run_until(
        [&] { return is_end(f.server->coordinator().board().tasks().at("e-t0-0").state); }));
  }
  f.start_backend();
  CHECK(f.backend->adopt(trial_start(0), position) == TrialBackend::Adoption::taken);
  if (!ended) go.let(1);
  REQUIRE(f.run_to_end());
  CHECK(f.ends[0].how == Ending::succeeded);
  CHECK(f.values() == Texts{"1", "2", "3"});
  CHECK(f.forgotten());
}

TEST_CASE("pool backend: what was reported while there was no manager is heard with adoption") {
  PoolFixture f;
  Gate go(f.folder.path / "go");
  f.command = "report PERIODICAL 0 1; read x < go; report PERIODICAL 1 2; read x < go";
  f.start_trial();
  f.backend.reset();
  go.let(1);
  const fs::path spool = f.folder.path / "experiment/trials/t0/spool.0";
  REQUIRE(f.run_until(
      [&] { return read_text(spool).rfind("\nmetric ") != read_text(spool).find("\nmetric "); }));
  f.start_backend();
  // It looks at its journal, and starts its tuner, before it adopts trials.
  REQUIRE(f.run_until([&] { return f.backend->connected(); }));
  f.start_greeted_client({"client", "d"});
  REQUIRE(f.backend->adopt(trial_start(0), f.reports[0].position));
  REQUIRE(f.run_until([&] { return f.reports.size() == 2; }));
  CHECK(f.values() == Texts{"1", "2"});
  go.let(1);
  REQUIRE(f.run_to_end());
  CHECK(f.values() == Texts{"1", "2"});
}

TEST_CASE("pool backend: what a coordinator ends of its own accord is lost not failed") {
  PoolFixture f;
  start_perhaps(f, GENERATE(false, true));
  f.server->finish("it was told to end");
  REQUIRE(f.run_to_end());
  CHECK(f.ends[0].how == Ending::lost);
  CHECK_THAT(f.ends[0].detail, Catch::Contains("it was told to end"));
}

TEST_CASE("pool backend: of a trial whose worker is lost, what it has reported is there") {
  PoolFixture f;
  f.lost_after = 0.05;
  Gate go(f.folder.path / "go");
  f.command = "report PERIODICAL 0 1; read x < go; report PERIODICAL 1 2; read x < go";
  f.start_server();
  f.start_worker("w");
  f.start_backend();
  const double began = SystemClock().wall();
  REQUIRE(f.backend->start(trial_start(0)));
  REQUIRE(f.run_until([&] { return f.reports.size() == 1; }));
  f.workers.clear();  // and the trial goes on, for a while
  go.let(1);
  REQUIRE(f.run_to_end());
  CHECK(f.ends[0].how == Ending::lost);
  CHECK_THAT(f.ends[0].detail, Catch::Contains("its worker w was not heard"));
  CHECK(f.ends[0].time >= began);  // what it took is its end less its beginning
  CHECK(f.values().at(0) == "1");
  // The next attempt: what is left of this one on the same machine is killed first.
  f.reports.clear();
  f.start_worker("v");
  REQUIRE(f.backend->start(trial_start(0, 1)));
  REQUIRE(f.run_until([&] { return f.reports.size() == 1; }));
  go.let(2);
  REQUIRE(f.run_to_end(2));
  CHECK(f.ends[1].how == Ending::succeeded);
  CHECK(f.values() == Texts{"1", "2"});
}

TEST_CASE("pool backend: a trial that had ended well when its worker was lost is not lost") {
  PoolFixture f;
  f.lost_after = 0.05;
  make_fifo(f.folder.path / "go");
  f.command = "report PERIODICAL 0 1; read x < go; report FINAL 0 2; exit $x";
  f.start_server();
  f.start_worker("w");
  f.start_backend();
  const int code = GENERATE(0, 3);
  REQUIRE(f.backend->start(trial_start(0)));
  REQUIRE(f.run_until([&] { return f.reports.size() == 1; }));
  const UniqueFd go(::open((f.folder.path / "go").c_str(), O_RDWR | O_CLOEXEC));
  f.workers.clear();
  REQUIRE(::write(go.get(), code == 0 ? "0\n" : "3\n", 2) == 2);
  const UniqueFd spool(
      ::open((f.folder.path / "experiment/trials/t0/spool.0").c_str(), O_RDONLY | O_CLOEXEC));
  while (!read_facts(spool.get(), SIZE_MAX).exit) std::this_thread::yield();  // nobody else runs
  REQUIRE(f.run_to_end());
  // Others might have been ended by what has ended the worker.
  CHECK(f.ends[0].how == (code == 0 ? Ending::succeeded : Ending::lost));
  CHECK(f.ends[0].job_id == "t0");
  CHECK(f.values() == Texts{"1", "2"});
  CHECK(f.forgotten());
}

TEST_CASE("pool backend: reports that went missing on the way are read from the spool") {
  PoolFixture f;
  f.command = "report PERIODICAL 0 1; report PERIODICAL 1 2; report FINAL 0 3";
  f.start_server();
  f.start_worker("w");
  // A client of the same name has heard it all, and does not tell.
  auto& other = f.start_greeted_client({"client", "e"});
  json submit = f.trial(0);
  other.say(submit);
  REQUIRE(f.run_until([&] { return other.has("finished"); }));
  f.start_backend();
  REQUIRE(f.backend->adopt(trial_start(0), 0));
  REQUIRE(f.run_to_end());
  CHECK(f.ends[0].how == Ending::succeeded);
  CHECK(f.values() == Texts{"1", "2", "3"});
}

TEST_CASE("pool backend: the coordinator is killed while trials run") {
  PoolFixture f;
  Gate go(f.folder.path / "go");
  f.command = "report PERIODICAL 0 1; read x < go; report FINAL 0 2";
  f.start_server();
  f.start_worker("w", 2);
  f.start_backend();
  for (int i = 0; i < 3; ++i) REQUIRE(f.backend->start(trial_start(i)));
  REQUIRE(f.run_until([&] { return f.reports.size() == 2; }));
  f.server.reset();
  go.let(3);
  REQUIRE(f.run_until([&] { return !f.backend->connected(); }));
  f.start_server();
  REQUIRE(f.run_to_end(3));
  for (int i = 0; i < 3; ++i) CHECK(f.values(fmt::format("t{}", i)) == Texts{"1", "2"});
  for (const TrialFinished& end : f.ends) CHECK(end.how == Ending::succeeded);
  CHECK(f.forgotten());
}

TEST_CASE("pool backend: a worker that cannot run it is told of, and another one may") {
  PoolFixture f;
  f.command = "true";
  fs::remove(f.folder.path / "experiment.json");
  f.start_server();
  f.start_worker("v");
  f.start_backend();
  REQUIRE(f.backend->start(trial_start(0)));
  REQUIRE(f.run_until([&] { return f.problems.size() == 1; }));
  CHECK_THAT(f.problems[0], Catch::StartsWith("worker v cannot run it: there is no "));
  std::ofstream(f.folder.path / "experiment.json") << "{}";
  f.start_worker("w");
  REQUIRE(f.run_to_end());
  CHECK(f.ends[0].how == Ending::succeeded);
}

TEST_CASE("pool backend: checkpoints are in the shared directory") {
  PoolFixture f;
  f.command =
      "[ -f $NNI_SYS_DIR/checkpoint/x ] && report FINAL 0 $(cat $NNI_SYS_DIR/checkpoint/x); "
      "echo 7 > $NNI_SYS_DIR/checkpoint/x";
  f.start_server();
  f.start_worker("w");
  f.start_backend();
  REQUIRE(f.backend->start(trial_start(0)));
  REQUIRE(f.run_to_end());
  f.backend->save_checkpoint("t0", "c");
  REQUIRE(f.run_until([&] { return f.stored.size() == 1; }));
  CHECK(f.stored[0].error.empty());
  REQUIRE(f.backend->start(trial_start(1, 0, "c")));
  REQUIRE(f.run_to_end(2));
  CHECK(f.values("t1") == Texts{"7"});
  f.backend->delete_checkpoint("c");
  CHECK(f.run_until([&] { return fs::is_empty(f.folder.path / "experiment/checkpoints"); }));
}

}  // namespace attune::pool_backend_test
