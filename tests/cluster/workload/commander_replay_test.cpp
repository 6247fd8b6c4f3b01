// Any course of events: what commanders promise whatever happens, and that the journal, or a
// snapshot, makes the same commander again.
#include <catch2/catch.hpp>

#include "base/rng.h"
#include "tests/cluster/workload/commander_helpers.h"

namespace attune::commander_replay_test {

using namespace attune::test;
using enum TaskState;

struct Case {
  std::string name;
  json settings;
  std::map<std::string, int> most;  // live tasks by kind
};

std::vector<Case> cases() {
  json naive = test_settings(R"({"learners": 2, "collectors": 4, "successes": 5, "failures": 6})");
  json solo = test_settings(
      R"({"collectors": 4, "evaluation": {"interval": 7}, "stop_value": 0.97, "failures": 6})");
  json league = solo;
  league["league"] = *parse_json(R"({"min_games": 2, "win_rate": 0.6, "snapshot_every": 2,
      "players": 3, "opponents": [{"player": "bot", "policy": "/bot"}]})");
  for (json* each : {&naive, &solo, &league}) {
    (*each)["learner"] = test_role(60);
    (*each)["collector"] = test_role(2);
    (*each)["collector"]["limits"]["run"] = 30;
  }
  return {{"naive", naive, {{"learn", 2}, {"collect", 4}, {"evaluate", 0}}},
          {"solo", solo, {{"learn", 1}, {"collect", 4}, {"evaluate", 1}}},
          {"one_vs_one", league, {{"learn", 1}, {"collect", 4}, {"evaluate", 1}}}};
}

// Everybody around a coordinator at random.
class Play {
 public:
  Play(const Case& each, int seed) : case_(each), rng_(static_cast<std::uint64_t>(seed)) {
    auto commander = test_commander(each.name, each.settings);
    commander_ = commander.get();
    w = std::make_unique<World>(std::move(commander));
    w->coordinator.begin(w->now);
  }

  void step(bool kindly) {
    const auto created = count_created();
    const bool decided = is_decided();
    const int what = kindly ? 5 + below(9) : below(15);
    const std::string worker = fmt::format("w{}", below(3));
    if (what == 0) restart();
    if (what == 1) w->coordinator.worker_lost(worker, w->now);
    if (what == 2) w->coordinator.worker_unavailable(worker, "it has left", w->now);
    if (what == 3 && below(20) == 0) cancel();
    if (what == 4) w->coordinator.worker_drains(worker, w->now);
    if (what == 5 || what == 6) join(worker);
    if (what == 7) w->pass(below(6));
    if (what > 7) task(kindly);
    w->effects.take();
    if (decided) CHECK(count_created() == created);
    check();
  }

  bool is_decided() const { return commander_->save()["tasks"]["decided"].get<bool>(); }
  json saved() const { return commander_->save(); }

  std::unique_ptr<World> w;

 private:
  int below(int n) { return static_cast<int>(rng_.index(static_cast<std::size_t>(n))); }

  std::ptrdiff_t count_created() const {
    return std::ranges::count(w->effects.records, Edge::created, &Record::edge);
  }

  void restart() {
    auto commander = test_commander(case_.name, case_.settings);
    const Commander* raw = commander.get();
    const json before = commander_->save();
    auto next = w->restarted(std::move(commander));
    REQUIRE(next);
    next->now = w->now;
    CHECK(raw->save() == before);
    w = std::move(next);
    commander_ = raw;
  }

  void join(const std::string& id) {
    WorkerHello hello = worker_hello(id, 2);
    for (const auto& [name, task] : w->coordinator.board().tasks()) {
      if (task.worker == id && task.state != queued && !is_end(task.state) && below(3) > 0)
        hello.running.push_back({name, task.lease});
    }
    (void)w->coordinator.worker_joined(hello, w->now);
  }

  void cancel() {
    const auto live = live_tasks(*w);
    if (!live.empty())
      w->coordinator.cancel(live[static_cast<std::size_t>(below(static_cast<int>(live.size())))],
                            "stop", "a person wants it", w->now);
  }

  // A word of one that runs, or its end.
  void task(bool kindly) {
    std::vector<std::string> runs;
    for (const std::string& id : live_tasks(*w)) {
      if (w->task(id).state != queued) runs.push_back(id);
    }
    if (runs.empty()) return;
    const std::string id = runs[static_cast<std::size_t>(below(static_cast<int>(runs.size())))];
    const bool learns = w->task(id).spec.kind == "learn";
    const int what = below(8);
    if (w->task(id).state == leased) {
      w->start(id);
    } else if (learns && below(kindly ? 8 : 60) > 0 && w->task(id).state == running) {
      report(*w, id, {{"snapshot", fmt::format("/s{}", below(20))}}, "PERIODICAL");
    } else if (what < 3) {
      report(*w, id, {{"default", rng_.uniform()}, {"wins", below(4)}, {"losses", below(2)}});
    } else {
      w->finish(id, kindly || below(3) > 0 ? succeeded : below(2) > 0 ? failed : lost);
    }
  }

  void check() {
    std::map<std::string, int> live;
    for (const auto& [id, task] : w->coordinator.board().tasks()) {
      if (is_end(task.state)) continue;
      ++live[task.spec.kind];
      if (task.state == closing || w->coordinator.board().latched()) continue;
      const json parameters = parameters_in(task.spec);
      if (!parameters.contains("learner")) continue;
      const auto& tasks = w->coordinator.board().tasks();
      CHECK(tasks.contains(parameters["learner"].get<std::string>()));
    }
    for (const auto& [kind, count] : live) CHECK(count <= case_.most.at(kind));
    CHECK(saved()["tasks"]["live"].size() == live_tasks(*w).size());
  }

  const Case case_;
  Rng rng_;
  const Commander* commander_ = nullptr;
};

void apply(Coordinator& coordinator, const Record& record) {
  const auto decoded = decode_record(encode_record(record));
  REQUIRE(decoded);
  REQUIRE(coordinator.replay(*decoded));
}

TEST_CASE("commander replay: whatever happens at random") {
  const Case each = GENERATE(from_range(cases()));
  const int seed = GENERATE(range(0, 20));
  INFO(each.name << " " << seed);
  Play play(each, seed);
  for (int i = 0; i < 300; ++i) play.step(false);
  // Then everybody is well, and the run ends.
  for (int i = 0; i < 3000 && !play.w->coordinator.finished(); ++i) play.step(true);
  CHECK(play.w->coordinator.finished());
  CHECK(play.is_decided());
  CHECK(play.saved()["tasks"]["live"].empty());
  std::map<std::string, int> ids;
  for (const TaskSpec& spec : created_tasks(play.w->effects.records)) CHECK(++ids[spec.id] == 1);
}

TEST_CASE("commander replay: behind every record the next task is the same") {
  const Case each = GENERATE(from_range(cases()));
  const int seed = GENERATE(100, 101, 102);
  INFO(each.name << " " << seed);
  Play play(each, seed);
  for (int i = 0; i < 150; ++i) play.step(i % 2 == 0);
  const std::vector<Record>& records = play.w->effects.records;

  const auto fresh = [&](const Commander** raw) {
    auto commander = test_commander(each.name, each.settings);
    *raw = commander.get();
    return std::make_unique<World>(std::move(commander));
  };
  const Commander* whole = nullptr;
  const auto replayed = fresh(&whole);
  for (std::size_t i = 0; i < records.size(); ++i) {
    INFO("record " << i);
    if (records[i].edge == Edge::created) {
      CHECK(whole->next(records[i].at) == records[i].spec);
      // So does one that was loaded from what it has saved, as text.
      const auto loaded = test_commander(each.name, each.settings);
      REQUIRE(loaded->load(*parse_json(dump_json(whole->save()))));
      CHECK(loaded->save() == whole->save());
      CHECK(loaded->next(records[i].at) == records[i].spec);
    }
    apply(replayed->coordinator, records[i]);
  }
  CHECK(whole->save() == play.saved());

  // A snapshot in the middle, and the records behind it.
  for (std::size_t cut = 0; cut < records.size(); cut += 7) {
    const Commander* first = nullptr;
    const Commander* second = nullptr;
    const auto before = fresh(&first);
    for (std::size_t i = 0; i < cut; ++i) apply(before->coordinator, records[i]);
    const auto after = fresh(&second);
    REQUIRE(after->coordinator.load(*parse_json(dump_json(before->coordinator.save()))));
    for (std::size_t i = cut; i < records.size(); ++i) apply(after->coordinator, records[i]);
    CHECK(second->save() == play.saved());
  }
}

TEST_CASE("commander replay: the seed decides and nothing else") {
  const Case each = GENERATE(from_range(cases()));
  const auto tasks = [&](std::uint64_t seed) {
    World w(test_commander(each.name, each.settings, seed));
    w.coordinator.begin(w.now);
    return created_tasks(w.effects.records);
  };
  CHECK(tasks(1) == tasks(1));
  CHECK(tasks(1) != tasks(2));
}

}  // namespace attune::commander_replay_test
