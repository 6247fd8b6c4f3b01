// Coordinators that are killed, and workers that come and go, at any moment.
#include <catch2/catch.hpp>
#include <map>
#include <set>

#include "base/rng.h"
#include "tests/cluster/pool/coordinator_world.h"

namespace attune::coordinator_restart_test {

using namespace attune::test;
using enum TaskState;

// The first `size` of them, all that a killed coordinator has left.
std::unique_ptr<World> restarted_after(const World& world, std::size_t size) {
  auto next = std::make_unique<World>();
  for (std::size_t i = 0; i < size; ++i)
    REQUIRE(next->coordinator.replay(world.effects.records[i]).has_value());
  next->effects.records.assign(world.effects.records.begin(),
                               world.effects.records.begin() + static_cast<std::ptrdiff_t>(size));
  next->now = world.now + 1;
  next->coordinator.begin(next->now);
  return next;
}

TEST_CASE("coordinator restart: records and snapshots are read back") {
  World w;
  w.coordinator.begin(w.now);
  TaskSpec spec = trial_task("a");
  spec.limits.attempts = 3;
  REQUIRE(w.coordinator.worker_joined(worker_hello("w", 4), w.now));
  for (const char* id : {"a", "b", "c", "d"}) {
    spec.id = id;
    REQUIRE(w.coordinator.submit(spec, w.now));
  }
  w.start("a");
  w.finish("a", failed);
  w.start("b");
  w.coordinator.cancel("b", "pause", "so", w.now);
  w.finish("c");
  for (const Record& record : w.effects.records)
    CHECK(decode_record(encode_record(record)) == record);
  Board board;
  for (const Record& record : w.effects.records) REQUIRE(board.apply(record).has_value());
  CHECK(board.save() == w.coordinator.board().save());
  Board loaded;
  REQUIRE(loaded.load(*parse_json(dump_json(board.save()))));
  CHECK(loaded.save() == board.save());
  CHECK(loaded.next_lease() == board.next_lease());
}

TEST_CASE("coordinator restart: what cannot have happened is refused") {
  World w;
  w.coordinator.begin(w.now);
  REQUIRE(w.coordinator.submit(trial_task("a"), w.now));
  const auto refused = [&](const Record& record) {
    Board board;
    REQUIRE(board.load(w.coordinator.board().save()));
    const json before = board.save();
    const bool applied = board.apply(record).has_value();
    CHECK(board.save() == before);
    return !applied;
  };
  CHECK(refused({.edge = Edge::running, .task = "a"}));
  CHECK(refused({.edge = Edge::leased, .task = "a"}));
  CHECK(refused({.edge = Edge::leased, .task = "b", .worker = "w", .number = 1}));
  CHECK(refused({.edge = Edge::ended, .task = "a", .state = succeeded}));
  CHECK(refused({.edge = Edge::ended, .task = "a", .state = queued}));
  CHECK(refused({.edge = Edge::gone, .task = "a"}));
  CHECK(refused({.edge = Edge::info, .task = "a"}));
  CHECK(refused({.edge = Edge::created, .task = "a"}));
  CHECK(refused({.edge = Edge::created, .task = "a", .spec = trial_task("a")}));
  CHECK(refused({.edge = Edge::began, .number = 1}));
  // Numbers from which leases would follow that no record can hold, or that were given out before.
  CHECK(refused({.edge = Edge::began, .number = std::uint64_t{1} << 31}));
  for (const LeaseId lease :
       {LeaseId{1}, w.coordinator.board().next_lease() - 1, (LeaseId{1} << 63) - 1})
    CHECK(refused({.edge = Edge::leased, .task = "a", .worker = "w", .number = lease}));
  const auto text = GENERATE(as<std::string>(), "", "[]", "{}", R"({"edge": "x", "at": 1})",
                             R"({"edge": "began", "at": "1"})", R"({"edge": "began", "at": 1e400})",
                             R"({"edge": "leased", "at": 1, "number": -1})",
                             R"({"edge": "created", "at": 1, "spec": {"id": "a"}})");
  CHECK(!decode_record(text));
}

TEST_CASE("coordinator restart: a state that was tampered with is refused") {
  World w;
  w.coordinator.begin(w.now);
  REQUIRE(w.coordinator.worker_joined(worker_hello("w"), w.now));
  for (const char* id : {"a", "b"}) REQUIRE(w.coordinator.submit(trial_task(id), w.now));
  const json good = w.coordinator.board().save();
  REQUIRE(Board().load(good));
  const auto [path, value] = GENERATE(table<std::string, std::string>({
      {"/epoch", "2147483648"},
      {"/epoch", "-1"},
      {"/created", "1"},
      {"/lease", "1"},
      {"/lease", "9223372036854775807"},
      {"/latched", "1"},
      {"/tasks", "{}"},
      {"/tasks/1/spec/id", R"("a")"},
      {"/tasks/0/state", R"("asleep")"},
      {"/tasks/0/worker", R"("")"},
      {"/tasks/0/lease", "0"},
      {"/tasks/0/lease", "4294967298"},
      {"/tasks/0/attempt", "4294967296"},
      {"/tasks/0/since", "1e400"},
      {"/tasks/0/leased", "NaN"},
      {"/tasks/0/again", "1"},
      {"/tasks/1/order", "1"},
      {"/tasks/1/order", "0"},
      {"/tasks/1/order", "3"},
  }));
  json bad = good;
  bad[json::json_pointer(path)] = *parse_json(value);
  INFO(path);
  Board board;
  CHECK(!board.load(bad));
  CHECK(board.save() == Board().save());
}

TEST_CASE("coordinator restart: killed behind every edge, the same result, and no work twice") {
  // What one coordinator would have done, had it lived.
  World whole;
  whole.coordinator.begin(whole.now);
  REQUIRE(whole.coordinator.worker_joined(worker_hello("w", 2), whole.now));
  for (const char* id : {"a", "b", "c"})
    REQUIRE(whole.coordinator.submit(trial_task(id), whole.now));
  for (const char* id : {"a", "b"}) whole.start(id);
  for (const char* id : {"a", "b", "c"}) whole.finish(id);
  for (const char* id : {"a", "b", "c"}) whole.coordinator.forget(id, whole.now);

  const std::size_t all = whole.effects.records.size();
  for (std::size_t size = 1; size <= all; ++size) {
    INFO("killed behind record " << size);
    auto w = restarted_after(whole, size);
    // The client submits again what it has not seen accepted, the worker comes with what it runs.
    std::set<std::string> forgotten;
    for (const Record& record : w->effects.records) {
      if (record.edge == Edge::gone) forgotten.insert(record.task);
    }
    std::map<std::string, LeaseId> running;
    for (const auto& [id, task] : w->coordinator.board().tasks()) {
      if (task.state == TaskState::running) running[id] = task.lease;
    }
    WorkerHello back = worker_hello("w", 2);
    for (const auto& [id, lease] : running) back.running.push_back({id, lease});
    REQUIRE(w->coordinator.worker_joined(back, w->now));
    for (const char* id : {"a", "b", "c"}) {
      if (forgotten.contains(id)) continue;
      REQUIRE(w->coordinator.submit(trial_task(id), w->now));
      if (is_end(w->task(id).state)) continue;
      // What ran before runs under the same lease: it is not begun a second time.
      if (running.contains(id)) CHECK(w->task(id).lease == running[id]);
      w->start(id);
      w->finish(id);
    }
    for (const char* id : {"a", "b", "c"}) {
      w->coordinator.forget(id, w->now);
      const auto successes = std::ranges::count_if(w->effects.records, [&](const Record& record) {
        return record.edge == Edge::ended && record.task == id && record.state == succeeded;
      });
      CHECK(successes == 1);
    }
    CHECK(w->coordinator.board().tasks().empty());
    CHECK(w->coordinator.next_time() == std::nullopt);
  }
}

TEST_CASE("coordinator restart: a worker that does not come back has lost what it had") {
  World first;
  first.coordinator.begin(first.now);
  TaskSpec spec = trial_task("a");
  spec.limits.attempts = 2;
  REQUIRE(first.coordinator.worker_joined(worker_hello("w"), first.now));
  REQUIRE(first.coordinator.submit(spec, first.now));
  first.start("a");
  const LeaseId before = first.task("a").lease;
  auto w = first.restarted();
  REQUIRE(w);
  REQUIRE(w->coordinator.worker_joined(worker_hello("v"), w->now));
  w->pass(14);
  CHECK(w->task("a").worker == "w");
  w->pass(1);
  CHECK(w->task("a").worker == "v");
  CHECK(w->task("a").attempt == 1);
  CHECK(w->task("a").lease > before);
  CHECK(w->coordinator.workers().workers().size() == 1);
}

// Workers, clients and coordinators die at random; in the end everybody stays. Nothing is lost, no
// worker is given more than it has, nothing is counted that has no right to.
TEST_CASE("coordinator restart: at random") {
  const auto seed = GENERATE(range(0, 60));
  Rng rng(static_cast<std::uint64_t>(seed));
  const auto below = [&](int n) {
    return static_cast<int>(rng.index(static_cast<std::size_t>(n)));
  };
  auto w = std::make_unique<World>();
  w->coordinator.begin(w->now);
  constexpr int kWorkers = 4;
  struct Played {
    bool here = false;
    int incarnation = 0;
    std::map<std::string, LeaseId> runs;
  };
  std::map<std::string, Played> workers;
  for (int i = 0; i < kWorkers; ++i) workers[fmt::format("w{}", i)];
  int submitted = 0;
  std::set<std::string> done;

  const auto join = [&](const std::string& id) {
    Played& worker = workers[id];
    WorkerHello hello = worker_hello(id, 2, fmt::format("{}", worker.incarnation));
    for (const auto& [task, lease] : worker.runs) hello.running.push_back({task, lease});
    worker.here = w->coordinator.worker_joined(hello, w->now).has_value();
  };
  // What the coordinator has said reaches those who are here.
  const auto deliver = [&] {
    for (const auto& [id, task] : w->coordinator.board().tasks()) {
      if (task.state == leased && workers[task.worker].here)
        workers[task.worker].runs[id] = task.lease;
    }
    for (const std::string& line : w->effects.take()) {
      for (auto& [id, worker] : workers) {
        if (!worker.here || !line.starts_with(id + ": cancel ")) continue;
        const std::string rest = line.substr(id.size() + 9);
        worker.runs.erase(rest.substr(0, rest.find(' ')));
      }
    }
  };
  const auto check = [&] {
    std::map<std::string, double> used;
    for (const auto& [id, task] : w->coordinator.board().tasks()) {
      if (task.state != queued && !is_end(task.state)) used[task.worker] += task.spec.needs.cpu;
    }
    for (const auto& [id, worker] : w->coordinator.workers().workers()) {
      CHECK(worker.used.cpu == Approx(used[id]));
      if (worker.state == WorkerState::ready) CHECK(worker.used.cpu <= 2 + 1e-6);
    }
    for (const auto& [id, cpu] : used) CHECK(w->coordinator.workers().workers().contains(id));
  };
  const auto step = [&](int what) {
    const std::string id = fmt::format("w{}", below(kWorkers));
    Played& worker = workers[id];
    if (what < 3 && submitted < 60) {
      TaskSpec spec = trial_task(fmt::format("t{}", submitted++), 0.5 * (1 + below(4)));
      spec.limits.attempts = 100;
      spec.limits.run = 40;
      spec.limits.silent = 25;
      REQUIRE(w->coordinator.submit(spec, w->now));
    } else if (what < 5) {
      if (!worker.here) join(id);
    } else if (what == 5) {  // cut off, or killed
      worker.here = false;
      if (below(2) == 0) {
        worker.runs.clear();
        ++worker.incarnation;
      }
      w->coordinator.worker_lost(id, w->now);
    } else if (what == 6) {
      w = w->restarted();
      REQUIRE(w);
      for (auto& [name, each] : workers) each.here = false;
    } else if (what == 7) {
      w->pass(below(12));
    } else if (worker.here && !worker.runs.empty()) {
      const auto [task, lease] = *worker.runs.begin();
      w->coordinator.started(id, {task, lease}, w->now);
      if (what < 12) {
        w->coordinator.finished(id, {task, lease}, below(4) == 0 ? failed : succeeded, "", "",
                                w->now);
        worker.runs.erase(task);
      }
    }
    deliver();
    check();
    for (const Record& record : w->effects.records) {
      if (record.edge == Edge::ended) done.insert(record.task);
    }
  };
  for (int i = 0; i < 400; ++i) step(below(14));
  for (auto& [id, worker] : workers) {
    if (!worker.here) join(id);
  }
  deliver();
  for (int i = 0; i < 4000 && static_cast<int>(done.size()) < submitted; ++i)
    step(i % 3 == 0 ? 7 : 11);
  CHECK(static_cast<int>(done.size()) == submitted);
  std::map<std::string, int> ends;
  for (const Record& record : w->effects.records) {
    if (record.edge == Edge::ended) CHECK(++ends[record.task] == 1);
  }
}

}  // namespace attune::coordinator_restart_test
