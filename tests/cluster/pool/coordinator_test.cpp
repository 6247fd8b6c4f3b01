#include "cluster/pool/coordinator.h"

#include <catch2/catch.hpp>

#include "tests/cluster/pool/coordinator_world.h"

namespace attune::coordinator_test {

using namespace attune::test;
using Lines = std::vector<std::string>;

TEST_CASE("coordinator: a task goes to a worker, runs, ends, and is forgotten") {
  World w;
  w.coordinator.begin(w.now);
  REQUIRE(w.coordinator.submit(trial_task("a"), w.now));
  CHECK(w.task("a").state == TaskState::queued);
  CHECK(w.coordinator.why_waiting(w.task("a")) == "there is no worker");
  REQUIRE(w.coordinator.worker_joined(worker_hello("w"), w.now));
  CHECK(w.effects.take() == Lines{"w: lease a leased attempt 0"});
  w.start("a");
  CHECK(w.task("a").state == TaskState::running);
  w.coordinator.info("w", w.held("a"), 7, 9, {{"x", 1}}, w.now);
  w.coordinator.acknowledge("a", 7, 9);
  CHECK(w.effects.take() == Lines{"client: info a 7 {\"x\":1}", "w: info_ack a 7"});
  w.finish("a");
  CHECK(w.effects.take(true) == Lines{"client: a succeeded", "w: end_ack a"});
  CHECK(w.task("a").report == "report");
  w.coordinator.forget("a", w.now);
  CHECK(w.coordinator.board().tasks().empty());
  const std::vector<Edge> edges = {Edge::began,   Edge::created, Edge::leased,
                                   Edge::running, Edge::ended,   Edge::gone};
  REQUIRE(w.effects.records.size() == edges.size());
  for (std::size_t i = 0; i < edges.size(); ++i) CHECK(w.effects.records[i].edge == edges[i]);
}

TEST_CASE("coordinator: a task that fits nowhere holds up only its like") {
  World w;
  w.coordinator.begin(w.now);
  REQUIRE(w.coordinator.worker_joined(worker_hello("w", 2), w.now));
  REQUIRE(w.coordinator.submit(trial_task("large", 8), w.now));
  TaskSpec gpu = trial_task("gpu");
  gpu.needs.gpu = 1;
  REQUIRE(w.coordinator.submit(gpu, w.now));
  for (const char* id : {"a", "b", "c"}) REQUIRE(w.coordinator.submit(trial_task(id), w.now));
  CHECK(w.effects.take() == Lines{"w: lease a leased attempt 0", "w: lease b leased attempt 0"});
  CHECK(w.coordinator.why_waiting(w.task("c")) ==
        "all workers that may have it are busy, or cannot be heard");
  CHECK(w.coordinator.why_waiting(w.task("gpu")) == "no worker may have it: w has 0 of 1 gpu");
  TaskSpec urgent = trial_task("urgent");
  urgent.priority = 1;
  REQUIRE(w.coordinator.submit(urgent, w.now));
  w.finish("a");
  CHECK(w.effects.take() == Lines{"w: lease urgent leased attempt 0", "w: end_ack a"});
}

TEST_CASE("coordinator: tasks go where they may, and where least is to be done") {
  World w;
  w.coordinator.begin(w.now);
  WorkerHello fast = worker_hello("fast", 4);
  fast.labels = {"fast", "new"};
  WorkerHello learner = worker_hello("learner", 4);
  learner.kinds = {"learn"};
  REQUIRE(w.coordinator.worker_joined(fast, w.now));
  REQUIRE(w.coordinator.worker_joined(learner, w.now));
  REQUIRE(w.coordinator.worker_joined(worker_hello("plain", 4), w.now));
  TaskSpec labelled = trial_task("a");
  labelled.labels = {"fast"};
  TaskSpec named = trial_task("b");
  named.worker = "plain";
  TaskSpec learn = trial_task("c");
  learn.kind = "learn";
  for (const TaskSpec& spec :
       {labelled, named, learn, trial_task("d"), trial_task("e"), trial_task("f")})
    REQUIRE(w.coordinator.submit(spec, w.now));
  CHECK(w.task("a").worker == "fast");
  CHECK(w.task("b").worker == "plain");
  CHECK(w.task("c").worker == "learner");  // as little to do as the others, and first by name
  CHECK(w.task("d").worker == "fast");
  CHECK(w.task("e").worker == "plain");
}

TEST_CASE(
    "coordinator: the tasks of a lost worker wait for it for a while and go to another then") {
  World w;
  w.coordinator.begin(w.now);
  TaskSpec twice = trial_task("a");
  twice.limits.attempts = 2;
  REQUIRE(w.coordinator.worker_joined(worker_hello("w"), w.now));
  REQUIRE(w.coordinator.submit(twice, w.now));
  const bool had_started = GENERATE(false, true);
  if (had_started) w.start("a");
  const HeldLease first = w.held("a");
  w.coordinator.worker_lost("w", w.now);
  REQUIRE(w.coordinator.worker_joined(worker_hello("v"), w.now));
  w.effects.take();
  w.pass(14);
  CHECK(w.effects.take().empty());
  w.pass(1);
  CHECK(w.effects.take() == Lines{"v: lease a leased attempt 1"});
  CHECK(w.coordinator.workers().workers().size() == 1);

  // The former worker comes back, late: it is fenced off, and changes nothing.
  WorkerHello back = worker_hello("w");
  back.running = {first};
  REQUIRE(w.coordinator.worker_joined(back, w.now));
  CHECK(w.effects.take() == Lines{"w: cancel a kill"});
  w.coordinator.info("w", first, 1, 1, {}, w.now);
  w.coordinator.finished("w", first, TaskState::succeeded, "", "stale", w.now);
  CHECK(w.effects.take() == Lines{"w: cancel a kill", "w: info_ack a 1", "w: end_ack a"});
  CHECK(w.coordinator.fenced() == 3);
  w.coordinator.worker_lost("v", w.now);
  w.pass(15);
  CHECK(w.task("a").state == TaskState::lost);  // no attempts are left
  CHECK(w.task("a").cause == "its worker v was not heard for 15 s");
  w.pass(1e6);
  CHECK(std::ranges::count(w.effects.records, Edge::ended, &Record::edge) == 1);
}

TEST_CASE("coordinator: a worker that comes back in time goes on") {
  World w;
  w.coordinator.begin(w.now);
  REQUIRE(w.coordinator.worker_joined(worker_hello("w", 4), w.now));
  for (const char* id : {"a", "b", "c"}) REQUIRE(w.coordinator.submit(trial_task(id), w.now));
  w.start("a");
  w.start("b");
  w.coordinator.cancel("b", "stop", "not wanted", w.now);
  CHECK(w.effects.take().back() == "w: cancel b stop");
  w.coordinator.worker_lost("w", w.now);
  SECTION("the connection was cut") {
    WorkerHello back = worker_hello("w", 4);
    back.running = {w.held("a"), w.held("b")};  // the lease of c was not received
    REQUIRE(w.coordinator.worker_joined(back, w.now));
    CHECK(w.effects.take() == Lines{"w: cancel b stop", "w: lease c leased attempt 0 again"});
  }
  SECTION("it was killed, and has been started again") {
    REQUIRE(w.coordinator.worker_joined(worker_hello("w", 4, "2"), w.now));
    CHECK(w.effects.take() == Lines{"w: lease a running attempt 0 again",
                                    "w: lease b closing attempt 0 again", "w: cancel b stop",
                                    "w: lease c leased attempt 0 again"});
  }
  w.pass(20);
  for (const char* id : {"a", "c"}) w.finish(id);
  w.finish("b", TaskState::failed);
  CHECK(w.task("a").state == TaskState::succeeded);
  CHECK(w.task("b").state == TaskState::cancelled);
  CHECK(w.task("b").cause == "not wanted");
}

TEST_CASE("coordinator: two workers of one name") {
  World w;
  w.coordinator.begin(w.now);
  REQUIRE(w.coordinator.worker_joined(worker_hello("w"), w.now));
  const auto second = w.coordinator.worker_joined(worker_hello("w", 1, "2"), w.now);
  REQUIRE(!second);
  CHECK(second.error().message.starts_with("a worker w is here already, on host (process 42)"));
  CHECK(w.coordinator.worker_joined(worker_hello("w"), w.now));  // the same one, connected again
}

TEST_CASE("coordinator: each limit fires once") {
  World w;
  w.coordinator.begin(w.now);
  TaskSpec spec = trial_task("a");
  SECTION("queue") {
    spec.limits.queue = 10;
    REQUIRE(w.coordinator.submit(spec, w.now));
    w.pass(9);
    CHECK(w.task("a").state == TaskState::queued);
    w.pass(1);
    CHECK(w.task("a").cause == "no worker took it within 10 s");
    CHECK(w.task("a").state == TaskState::failed);
    REQUIRE(w.coordinator.worker_joined(worker_hello("w"), w.now));
    CHECK(w.effects.take().empty());
  }
  SECTION("run") {
    spec.limits = {.run = 10, .attempts = 2};
    REQUIRE(w.coordinator.worker_joined(worker_hello("w"), w.now));
    REQUIRE(w.coordinator.submit(spec, w.now));
    w.start("a");
    w.effects.take();
    w.pass(10);
    CHECK(w.effects.take() == Lines{"w: cancel a stop"});
    w.pass(10);
    CHECK(w.effects.take().empty());
    w.finish("a", TaskState::failed);
    CHECK(w.effects.take() == Lines{"w: lease a leased attempt 1", "w: end_ack a"});
    w.pass(10);
    w.finish("a", TaskState::cancelled);
    CHECK(w.task("a").state == TaskState::failed);
    CHECK(w.task("a").cause == "it ran longer than 10 s");
  }
  SECTION("silent") {
    spec.limits.silent = 10;
    REQUIRE(w.coordinator.worker_joined(worker_hello("w"), w.now));
    REQUIRE(w.coordinator.submit(spec, w.now));
    w.start("a");
    w.effects.take();
    w.pass(8);
    w.coordinator.info("w", w.held("a"), 1, 1, 1, w.now);
    w.effects.take();
    w.pass(9);
    CHECK(w.effects.take().empty());
    w.pass(1);
    CHECK(w.effects.take() == Lines{"w: cancel a stop"});
    // It does not end, either: it is killed, and not waited for.
    w.pass(60);
    CHECK(w.effects.take() == Lines{"w: cancel a kill"});
    CHECK(w.task("a").state == TaskState::failed);
  }
  const auto ends = std::ranges::count(w.effects.records, Edge::ended, &Record::edge);
  CHECK(ends == 1);
  CHECK(w.coordinator.next_time() == std::nullopt);
}

TEST_CASE("coordinator: a task is submitted as often as its client likes") {
  World w;
  w.coordinator.begin(w.now);
  REQUIRE(w.coordinator.submit(trial_task("a"), w.now));
  REQUIRE(w.coordinator.submit(trial_task("a"), w.now));
  CHECK(w.effects.take(true) == Lines{"client: a queued"});
  TaskSpec other = trial_task("a");
  other.client = "d";
  CHECK(!w.coordinator.submit(other, w.now));
  CHECK(w.coordinator.queue().size() == 1);
  REQUIRE(w.coordinator.worker_joined(worker_hello("w"), w.now));
  w.start("a");
  w.effects.take();
  REQUIRE(w.coordinator.client_joined("c", test_key("c"), w.now));
  CHECK(w.effects.take(true).empty());  // it may not listen for it yet
  REQUIRE(w.coordinator.submit(trial_task("a"), w.now));
  CHECK(w.effects.take(true) == Lines{"client: a running", "w: say again a"});
}

TEST_CASE("coordinator: cancelling") {
  World w;
  w.coordinator.begin(w.now);
  REQUIRE(w.coordinator.worker_joined(worker_hello("w"), w.now));
  REQUIRE(w.coordinator.submit(trial_task("a"), w.now));
  REQUIRE(w.coordinator.submit(trial_task("b"), w.now));
  w.effects.take();
  w.coordinator.cancel("b", "stop", "", w.now);
  CHECK(w.task("b").state == TaskState::cancelled);
  w.coordinator.cancel("a", "pause", "", w.now);  // before it has started
  w.coordinator.cancel("a", "kill", "", w.now);
  CHECK(w.effects.take() == Lines{"w: cancel a pause", "w: cancel a kill"});
  w.coordinator.started("w", w.held("a"), w.now);
  CHECK(w.task("a").state == TaskState::closing);
  w.coordinator.worker_lost("w", w.now);
  w.pass(15);
  CHECK(w.task("a").state == TaskState::cancelled);
  w.coordinator.cancel("a", "stop", "", w.now);
  w.coordinator.cancel("nobody", "stop", "", w.now);
}

TEST_CASE("coordinator: workers drain and leave") {
  World w;
  w.coordinator.begin(w.now);
  REQUIRE(w.coordinator.worker_joined(worker_hello("w", 2), w.now));
  REQUIRE(w.coordinator.submit(trial_task("a"), w.now));
  w.effects.take();
  SECTION("one that is busy") {
    w.coordinator.worker_drains("w", w.now);
    REQUIRE(w.coordinator.submit(trial_task("b"), w.now));
    CHECK(w.effects.take().empty());
    w.finish("a");
    CHECK(w.effects.take() == Lines{"w: dismiss", "w: end_ack a"});
    w.coordinator.worker_lost("w", w.now);
    CHECK(w.coordinator.workers().workers().empty());
  }
  SECTION("one that is idle") {
    w.finish("a");
    w.effects.take();
    w.coordinator.worker_drains("w", w.now);
    CHECK(w.effects.take() == Lines{"w: dismiss"});
    w.coordinator.worker_unavailable("w", "it has left", w.now);
    CHECK(w.coordinator.workers().workers().empty());
  }
  SECTION("at once, with what it has") {
    w.coordinator.worker_unavailable("w", "it has left", w.now);
    CHECK(w.task("a").state == TaskState::lost);
    CHECK(w.task("a").cause == "it has left");
  }
}

TEST_CASE("coordinator: a worker that cannot run tasks of a client gets no more of them") {
  World w;
  w.coordinator.begin(w.now);
  REQUIRE(w.coordinator.worker_joined(worker_hello("v"), w.now));
  REQUIRE(w.coordinator.submit(trial_task("a"), w.now));
  w.coordinator.refused("v", w.held("a"), "no such directory", w.now);
  CHECK(w.task("a").state == TaskState::queued);
  CHECK(w.task("a").attempt == 0);
  CHECK(w.task("a").cause == "worker v cannot run it: no such directory");
  w.effects.take();
  REQUIRE(w.coordinator.worker_joined(worker_hello("w"), w.now));
  CHECK(w.effects.take() == Lines{"w: lease a leased attempt 0"});
  TaskSpec other = trial_task("b");
  other.client = "d";
  REQUIRE(w.coordinator.submit(other, w.now));
  CHECK(w.task("b").worker == "v");
}

TEST_CASE("coordinator: a latch holds, and nothing new begins") {
  World w;
  w.coordinator.begin(w.now);
  REQUIRE(w.coordinator.worker_joined(worker_hello("w"), w.now));
  TaskSpec twice = trial_task("a");
  twice.limits.attempts = 5;
  REQUIRE(w.coordinator.submit(twice, w.now));
  REQUIRE(w.coordinator.submit(trial_task("b"), w.now));
  w.effects.take();
  w.coordinator.finish_all("enough", w.now);
  CHECK(w.effects.take() == Lines{"w: cancel a stop"});
  CHECK_FALSE(w.coordinator.finished());
  CHECK(w.coordinator.submit(trial_task("c"), w.now));
  CHECK_FALSE(w.coordinator.board().tasks().contains("c"));
  w.finish("a", TaskState::failed);
  CHECK(w.coordinator.finished());
  CHECK(w.task("a").state == TaskState::cancelled);
  CHECK(w.task("b").state == TaskState::cancelled);
  auto next = w.restarted();
  REQUIRE(next);
  CHECK_FALSE(next->coordinator.finished());  // its clients may come again
  CHECK(next->coordinator.submit(trial_task("c"), next->now));
  CHECK(next->task("c").state == TaskState::queued);
  CHECK(next->task("a").state == TaskState::cancelled);
  auto last = next->restarted();
  REQUIRE(last);
  CHECK(last->task("c").state == TaskState::queued);
}

}  // namespace attune::coordinator_test
