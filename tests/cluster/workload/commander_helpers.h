#pragma once
// Settings of commanders, and what their tasks say.
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cluster/workload/commanders.h"
#include "tests/cluster/pool/coordinator_world.h"

namespace attune::test {

inline json test_role(int attempts = 1) {
  return {{"program", {{"experiment", "e"}}},
          {"needs", {{"cpu", 1}}},
          {"limits", {{"attempts", attempts}}}};
}

// `more` is JSON text.
inline json test_settings(const std::string& more = "{}") {
  json settings = {{"policies", "/shared/policies"},
                   {"learner", test_role()},
                   {"collector", test_role()},
                   {"buffer", {{"policy", "fifo"}}}};
  settings.update(*parse_json(more));
  return settings;
}

inline json solo_settings() {
  return test_settings(
      R"({"collectors": 3, "evaluation": {"interval": 10}, "stop_value": 195, "failures": 3})");
}

inline std::unique_ptr<Commander> test_commander(const std::string& name, const json& settings,
                                                 std::uint64_t seed = 7) {
  auto commander = make_commander(name, settings, seed);
  return commander ? *std::move(commander) : nullptr;
}

inline json parameters_in(const TaskSpec& spec) {
  return (*parse_json((*parse_json(spec.program))["parameters"].get<std::string>()))["parameters"];
}

// Of the commander, that have not ended, in order of their creation.
inline std::vector<std::string> live_tasks(const World& world, const std::string& kind = "") {
  std::map<std::uint64_t, std::string> ordered;
  for (const auto& [id, task] : world.coordinator.board().tasks()) {
    if (!is_end(task.state) && (kind.empty() || task.spec.kind == kind)) ordered[task.order] = id;
  }
  std::vector<std::string> ids;
  for (const auto& [order, id] : ordered) ids.push_back(id);
  return ids;
}

// Those that were ever created.
inline std::vector<TaskSpec> created_tasks(const std::vector<Record>& records) {
  std::vector<TaskSpec> specs;
  for (const Record& record : records) {
    if (record.edge == Edge::created) specs.push_back(*record.spec);
  }
  return specs;
}

inline void report(World& world, const std::string& id, const json& value,
                   const std::string& type = "FINAL") {
  const json event = {{"event", "report"}, {"type", type}, {"sequence", 0}, {"value", value}};
  world.coordinator.info(std::string(world.task(id).worker), world.held(id), 1, 0, event,
                         world.now);
}

// With one worker that has room for so many tasks, and its commander begun.
struct CommandedWorld : World {
  CommandedWorld(const std::string& name, const json& settings, double room = 100)
      : CommandedWorld(test_commander(name, settings), room) {}
  CommandedWorld(std::unique_ptr<Commander> made, double room)
      : CommandedWorld{made.get(), std::move(made)} {  // braces: in this order
    coordinator.begin(now);
    if (room > 0) (void)coordinator.worker_joined(worker_hello("w", room), now);
  }
  const Commander& commander;

 private:
  CommandedWorld(const Commander* raw, std::unique_ptr<Commander> made)
      : World(std::move(made)), commander(*raw) {}
};

}  // namespace attune::test
