// Any records as the journal of a coordinator, one a line, `s` before a snapshot: an error, or a
// coordinator that goes on, and whose own state is one from which another does.
#include <set>

#include "cluster/workload/commanders.h"
#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/fuzzed_coordinator.h"

using namespace attune;

namespace {

std::unique_ptr<Commander> solo() {
  const json settings = {{"learner", {{"program", {{"experiment", "e"}}}}},
                         {"collector", {{"program", {{"experiment", "e"}}}}},
                         {"policies", "/p"},
                         {"buffer", {{"policy", "fifo"}}}};
  auto made = make_commander("solo", settings, 1);
  ATTUNE_CHECK(made.has_value());
  return *std::move(made);
}

Result<void> read(FuzzedCoordinator& world, std::string_view journal) {
  while (!journal.empty()) {
    const std::string_view line = journal.substr(0, journal.find('\n'));
    journal.remove_prefix(std::min(line.size() + 1, journal.size()));
    const bool snapshot = line.starts_with('s');
    const json content = TRY(parse_json(line.substr(snapshot ? 1 : 0)));
    TRY(snapshot ? world.load(content) : world.replay(content));
  }
  return {};
}

void go_on(FuzzedCoordinator& world) {
  Coordinator& coordinator = world.coordinator;
  double now = 2000;
  coordinator.begin(now);
  WorkerHello hello;
  hello.id = "w";
  hello.capacity.cpu = 2;
  if (!coordinator.worker_joined(hello, now)) return;  // the name is bound there
  for (int i = 0; i < 3; ++i) {
    coordinator.tick(now += 20);
    for (const std::string& id :
         std::set<std::string>(coordinator.workers().workers().at("w").tasks)) {
      const HeldLease held{id, coordinator.board().tasks().at(id).lease};
      coordinator.started("w", held, now);
      coordinator.finished("w", held, TaskState::failed, "", "", now);
    }
  }
}

}  // namespace

FUZZ_TARGET(input) {
  for (const bool commanded : {false, true}) {
    const auto commander = [&] { return commanded ? solo() : nullptr; };
    FuzzedCoordinator world(commander());
    if (!read(world, input)) continue;
    const std::string saved = dump_json(world.save());
    FuzzedCoordinator copy(commander());
    ATTUNE_CHECK(copy.load(parse_json(saved).value()).has_value());
    ATTUNE_CHECK(dump_json(copy.save()) == saved);
    go_on(world);
    go_on(copy);
    ATTUNE_CHECK(dump_json(world.save()) == dump_json(copy.save()));
    ATTUNE_CHECK(world.records == copy.records);
    // What was written down meanwhile is read behind the snapshot.
    FuzzedCoordinator next(commander());
    ATTUNE_CHECK(next.load(parse_json(saved).value()).has_value());
    for (const std::string& record : world.records)
      ATTUNE_CHECK(next.replay(parse_json(record).value()).has_value());
    ATTUNE_CHECK(dump_json(next.save()) == dump_json(world.save()));
  }
}
