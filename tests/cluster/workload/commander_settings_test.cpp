// What is wrong with settings and with saved states.
#include <catch2/catch.hpp>

#include "tests/cluster/workload/commander_helpers.h"

namespace attune::commander_settings_test {

using namespace attune::test;
using Catch::Matchers::Contains;

std::string error_of(const std::string& name, const json& settings) {
  const auto made = make_commander(name, settings, 1);
  return made ? "" : made.error().message;
}

TEST_CASE("commander settings: names") {
  CHECK(commander_names() == std::vector<std::string>{"trials", "naive", "solo", "one_vs_one"});
  const auto trials = make_commander("trials", nullptr, 1);
  REQUIRE(trials);
  CHECK(*trials == nullptr);
  CHECK_THAT(error_of("trials", {{"learner", 1}}), Contains("trials: unknown argument"));
  CHECK(
      error_of("sola", {}) ==
      "unknown commander \"sola\"; did you mean \"solo\"? Known: trials, naive, solo, one_vs_one");
  for (const char* name : {"naive", "solo", "one_vs_one"}) {
    const auto made = make_commander(name, test_settings(), 1);
    REQUIRE(made);
    CHECK(*made != nullptr);
  }
}

TEST_CASE("commander settings: errors name the key") {
  const auto [more, wanted] = GENERATE(table<std::string, std::string>({
      {R"({"colector": {}})", R"(one_vs_one.colector: unknown key; did you mean "collector"?)"},
      {R"({"learner": null})", R"(one_vs_one.learner: an object with "program" expected)"},
      {R"({"learner": {}})", "one_vs_one.learner.program: an object expected"},
      {R"({"collector": {"program": {}, "need": {}}})", R"(did you mean "needs"?)"},
      {R"({"collector": {"program": {"job": 1}}})", R"(one_vs_one.collector.program: "job")"},
      {R"({"collector": {"program": {}, "parameters": {"lr": 1, "seed": 5}}})",
       "one_vs_one.collector.parameters.seed: written by the commander"},
      {R"({"collector": {"program": {}, "needs": {"cpu": -1}}})",
       "one_vs_one.collector.needs.cpu: a number in [0, "},
      {R"({"collector": {"program": {}, "needs": {"cpus": 1}}})",
       R"(one_vs_one.collector.needs.cpus: unknown key; did you mean "cpu"?)"},
      {R"({"collector": {"program": {}, "needs": {"custom": {"licence": "x"}}}})",
       "one_vs_one.collector.needs.custom.licence: a number"},
      {R"({"collector": {"program": {}, "needs": {"custom": 1}}})",
       "one_vs_one.collector.needs.custom: an object"},
      {R"({"collector": {"program": {}, "limits": {"attempts": 1.5}}})",
       "one_vs_one.collector.limits.attempts: an integer in [1, 1000000]"},
      {R"({"collector": {"program": {}, "limits": {"attemps": 3}}})",
       R"(one_vs_one.collector.limits.attemps: unknown key; did you mean "attempts"?)"},
      {R"({"collector": {"program": {}, "limits": 3}})",
       "one_vs_one.collector.limits: an object expected"},
      {R"({"collector": {"program": {}, "labels": [1]}})", "one_vs_one.collector.labels: "},
      {R"({"collector": {"program": {}, "limits": {"run": "x"}}})",
       "one_vs_one.collector.limits.run: "},
      {R"({"collectors": 0})", "one_vs_one.collectors: an integer in [1, 10000] expected"},
      {R"({"policies": null})", "one_vs_one.policies: a directory expected"},
      {R"({"policies": ""})", "one_vs_one.policies"},
      {R"({"run": "../x"})", "one_vs_one.run"},
      {R"({"buffer": "fifo"})", "one_vs_one.buffer: "},
      {R"({"buffer": null})", "one_vs_one.buffer.policy: "},
      {R"({"buffer": {"policy": "lifo"}})", "one_vs_one.buffer.policy: "},
      {R"({"stop_value": 1})", "one_vs_one.evaluation is wanted beside it"},
      {R"({"evaluation": {"interval": 0}})", "one_vs_one.evaluation.interval: a number in"},
      {R"({"evaluation": {"task": {}}})", "one_vs_one.evaluation.task.program"},
      {R"({"evaluation": 3})", "one_vs_one.evaluation: an object expected"},
      {R"({"failures": 0})", "one_vs_one.failures"},
      {R"({"league": {"self_play": 1.5}})", "one_vs_one.league.self_play: a number in [0, 1]"},
      {R"({"league": {"opponents": {}}})", "one_vs_one.league.opponents: a list"},
      {R"({"league": {"opponents": [{"player": "a"}]}})", "needs a player and a policy"},
      {R"({"league": {"opponents": [{"player": "main", "policy": "p"}]}})", "another name"},
      {R"({"league": {"opponents": [{"player": "a", "policy": "p"},
                                    {"player": "a", "policy": "q"}]}})",
       "another name"},
  }));
  INFO(more);
  CHECK_THAT(error_of("one_vs_one", test_settings(more)), Contains(wanted));
}

TEST_CASE("commander settings: settings that are no object") {
  const std::string name = GENERATE("naive", "solo", "one_vs_one");
  for (const json& settings : {json(1), json::array(), json("x"), json()})
    CHECK(error_of(name, settings).starts_with(name));
}

TEST_CASE("commander settings: all of a role is in its tasks") {
  json settings = test_settings();
  settings["run"] = "e7";
  settings["collector"] = *parse_json(
      R"({"program": {"a": [1]}, "needs": {"gpu": 0.5}, "labels": ["fast"], "priority": 3,
          "limits": {"attempts": 4, "silent": 60}})");
  CommandedWorld w("solo", settings, 0);
  const TaskSpec& spec = w.task("e7-collect-1").spec;
  CHECK(spec.client.empty());
  CHECK(spec.needs.gpu == 0.5);
  CHECK(spec.labels == std::vector<std::string>{"fast"});
  CHECK(spec.priority == 3);
  CHECK(spec.limits.attempts == 4);
  CHECK(spec.limits.silent == 60);
  CHECK((*parse_json(spec.program))["a"] == json::array({1}));
  CHECK(parse_task_spec(to_json(spec)) == spec);
}

TEST_CASE("commander settings: states that cannot be are refused and change nothing") {
  const json settings = test_settings(
      R"({"collectors": 2, "evaluation": {"interval": 10}, "league": {"opponents":
          [{"player": "bot", "policy": "p"}, {"player": "bat", "policy": "q"}]}})");
  CommandedWorld w("one_vs_one", settings);
  const json good = w.commander.save();
  const auto fresh = test_commander("one_vs_one", settings);
  REQUIRE(fresh->load(*parse_json(dump_json(good))));
  CHECK(fresh->save() == good);

  const auto [pointer, value] = GENERATE(table<std::string, std::string>({
      {"/commander", R"("solo")"},
      {"/tasks", "[]"},
      {"/tasks/created", "[1, 1]"},
      {"/tasks/created/0", "-1"},
      {"/tasks/created/0", "1.5"},
      {"/tasks/created/0", "18446744073709551615"},
      {"/tasks/created/1", "1"},
      {"/tasks/failures/2", "4294967296"},
      {"/tasks/decided", "1"},
      {"/tasks/failure", R"("so")"},
      {"/tasks/live", "{}"},
      {"/tasks/live/0", "null"},
      {"/tasks/live/0/id", R"("")"},
      {"/tasks/live/0/kind", R"("trial")"},
      {"/tasks/live/0/learner", R"("other")"},
      {"/tasks/live/0/told", "0"},
      {"/tasks/live/1/id", R"("run-learn-1")"},
      {"/own", "null"},
      {"/own/evaluated", R"("NaN")"},
      {"/own/league", "1"},
      {"/own/league/made", "2"},
      {"/own/league/snapshots", "-1"},
      {"/own/league/players", "{}"},
      {"/own/league/players/0", "7"},
      {"/own/league/players/0/name", R"("bat")"},
      {"/own/league/players/0/name", R"("main")"},
      {"/own/league/players/0/policy", R"("")"},
      {"/own/league/players/0/given", "null"},
      {"/own/league/players/0/wins", "-1"},
      {"/own/league/players/0/draws", "null"},
      {"/own/league/players/0/losses", "1e300"},
  }));
  INFO(pointer << " = " << value);
  json bad = good;
  bad[json::json_pointer(pointer)] = *parse_json(value);
  const auto other = test_commander("one_vs_one", settings);
  const json before = other->save();
  CHECK(!other->load(bad));
  CHECK(other->save() == before);
  CHECK(!other->load(json(1)));
}

// A snapshot that is not of the tasks beside it.
TEST_CASE("commander settings: a state of other tasks ends the run with a reason") {
  CommandedWorld w("solo", test_settings());
  json state = w.coordinator.save();
  const auto [id, cause] = GENERATE(table<std::string, std::string>(
      {{"nobody", "the commander does not know that task nobody has ended"},
       {"t", "the commander does not know that task t has ended"}}));
  REQUIRE(w.coordinator.submit(trial_task("t"), w.now));
  state["board"] = w.coordinator.save()["board"];
  state["commander"]["tasks"]["live"][1]["id"] = id;
  state["commander"]["tasks"]["decided"] = true;
  World next(test_commander("solo", test_settings()));
  REQUIRE(next.coordinator.load(state));
  next.coordinator.begin(w.now);
  CHECK(next.coordinator.board().latched());
  const auto latched = std::ranges::find(next.effects.records, Edge::latched, &Record::edge);
  CHECK(latched->cause == cause);
}

}  // namespace attune::commander_settings_test
