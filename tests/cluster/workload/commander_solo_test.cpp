// One learner, its collectors and evaluations.
#include <catch2/catch.hpp>

#include "tests/cluster/workload/commander_helpers.h"

namespace attune::commander_solo_test {

using namespace attune::test;
using Ids = std::vector<std::string>;

TEST_CASE("commander solo: the learner comes first and then an evaluation") {
  const auto commander = test_commander("solo", solo_settings());
  REQUIRE(commander);
  const auto learner = commander->next({});
  REQUIRE(learner);
  CHECK(learner->kind == "learn");
  CHECK(commander->next({}) == learner);
  CHECK(commander->next_time() == std::numeric_limits<double>::infinity());

  CommandedWorld w("solo", solo_settings());
  CHECK(live_tasks(w) ==
        Ids{"run-learn-1", "run-evaluate-1", "run-collect-1", "run-collect-2", "run-collect-3"});
  const TaskSpec& learns = w.task("run-learn-1").spec;
  CHECK(learns.owns == std::vector<OwnedBuffer>{{"run-learn-1-buffer", R"({"policy":"fifo"})"}});
  CHECK(learns.needs.cpu == 1);
  CHECK((*parse_json(learns.program))["experiment"] == "e");
  CHECK((*parse_json(learns.program))["job"] == "run-learn-1");
  const json learning = parameters_in(learns);
  CHECK(learning["task"] == "run-learn-1");
  CHECK(learning["buffer"] == "run-learn-1-buffer");
  CHECK(learning["policy"] == "/shared/policies/run-learn-1");

  const TaskSpec& collects = w.task("run-collect-2").spec;
  CHECK(collects.uses == Ids{"run-learn-1-buffer"});
  const json collecting = parameters_in(collects);
  CHECK(collecting["task"] == "run-collect-2");
  CHECK(collecting["buffer"] == learning["buffer"]);
  CHECK(collecting["policy"] == learning["policy"]);
  CHECK(collecting["evaluate"] == false);
  CHECK(collecting["seed"] != parameters_in(w.task("run-collect-1").spec)["seed"]);

  const json evaluating = parameters_in(w.task("run-evaluate-1").spec);
  CHECK(evaluating["evaluate"] == true);
  CHECK(evaluating["policy"] == learning["policy"]);
  CHECK(!evaluating.contains("buffer"));
  CHECK(w.task("run-evaluate-1").spec.uses.empty());
}

TEST_CASE("commander solo: an evaluation per interval and never two at a time") {
  CommandedWorld w("solo", solo_settings());
  w.pass(30);
  CHECK(live_tasks(w, "evaluate") == Ids{"run-evaluate-1"});
  CHECK(w.coordinator.next_time() == std::nullopt);
  w.finish("run-evaluate-1");
  CHECK(live_tasks(w, "evaluate") == Ids{"run-evaluate-2"});
  w.finish("run-evaluate-2");
  CHECK(live_tasks(w, "evaluate").empty());
  const auto next = w.coordinator.next_time();
  REQUIRE(next);
  CHECK(*next == w.now + 10);
  w.pass(9);
  CHECK(live_tasks(w, "evaluate").empty());
  w.pass(1);
  CHECK(live_tasks(w, "evaluate") == Ids{"run-evaluate-3"});
  CHECK(live_tasks(w, "collect").size() == 3);
}

TEST_CASE("commander solo: what has converged stays so whatever ends later") {
  CommandedWorld w("solo", solo_settings());
  report(w, "run-evaluate-1", {{"reward_mean", 194.9}, {"default", 1000}});
  report(w, "run-evaluate-1", 1000);  // the first counts
  w.finish("run-evaluate-1");
  w.pass(10);
  report(w, "run-evaluate-2", 1000, "PERIODICAL");
  report(w, "run-collect-1", 1000);
  report(w, "run-learn-1", 1000);
  CHECK(w.coordinator.board().latched() == false);
  w.effects.take();
  const auto value =
      GENERATE(as<std::string>(), "195", R"({"reward_mean": 195.5})", R"({"default": 200})");
  report(w, "run-evaluate-2", *parse_json(value));
  Ids told = w.effects.take();
  told.erase(std::ranges::find(told, "w: info_ack run-evaluate-2 1"));
  CHECK(told == Ids{"w: cancel run-learn-1 finish", "w: cancel run-collect-1 finish",
                    "w: cancel run-collect-2 finish", "w: cancel run-collect-3 finish",
                    "w: cancel run-evaluate-2 finish"});
  CHECK_FALSE(w.commander.done());
  const std::size_t created = created_tasks(w.effects.records).size();
  for (const std::string& id : live_tasks(w)) w.finish(id);
  CHECK(w.commander.done());
  CHECK(w.commander.failure().empty());
  CHECK(w.coordinator.finished());
  w.pass(1000);
  CHECK(created_tasks(w.effects.records).size() == created);
  for (const Record& record : w.effects.records) {
    if (record.edge == Edge::ended) CHECK(record.state == TaskState::succeeded);
  }
}

TEST_CASE("commander solo: a learner that nobody takes leaves no buffer to write to") {
  json settings = solo_settings();
  settings["learner"]["limits"]["queue"] = 5;
  CommandedWorld w("solo", settings, 0);
  CHECK(live_tasks(w, "collect").size() == 3);
  w.pass(5);
  CHECK(live_tasks(w).empty());
  CHECK(w.coordinator.finished());
  CHECK(w.commander.failure() ==
        "the learner run-learn-1 has ended as failed: no worker took it within 5 s");
  CHECK(w.effects.records.back().edge == Edge::latched);
  CHECK(w.effects.records.back().cause == w.commander.failure());
}

TEST_CASE("commander solo: the end of the learner is the end of all") {
  CommandedWorld w("solo", solo_settings());
  SECTION("it has succeeded") {
    w.finish("run-learn-1");
    CHECK(w.commander.failure().empty());
  }
  SECTION("it has failed") {
    w.finish("run-learn-1", TaskState::failed);
    CHECK(w.commander.failure() == "the learner run-learn-1 has ended as failed: cause");
  }
  SECTION("somebody has cancelled it") {
    w.coordinator.cancel("run-learn-1", "stop", "enough", w.now);
    w.finish("run-collect-1");
    CHECK(live_tasks(w, "collect").size() == 2);  // no more of them
    w.finish("run-learn-1");
    CHECK(w.commander.failure() == "the learner run-learn-1 has ended as cancelled: enough");
  }
  for (const std::string& id : live_tasks(w)) {
    CHECK(w.task(id).how == kFinish);
    w.finish(id);
  }
  CHECK(w.coordinator.finished());
}

TEST_CASE(
    "commander solo: the second attempt of a lost learner has its buffer and its collectors") {
  json settings = solo_settings();
  settings["learner"]["limits"]["attempts"] = 2;
  CommandedWorld w("solo", settings, 0);
  REQUIRE(w.coordinator.worker_joined(worker_hello("v"), w.now));
  REQUIRE(w.coordinator.worker_joined(worker_hello("w", 100), w.now));
  REQUIRE(w.task("run-learn-1").worker == "v");
  w.coordinator.worker_unavailable("v", "it has left", w.now);
  CHECK(w.task("run-learn-1").worker == "w");
  CHECK(w.task("run-learn-1").attempt == 1);
  CHECK(live_tasks(w, "collect") == Ids{"run-collect-1", "run-collect-2", "run-collect-3"});
  w.coordinator.worker_unavailable("w", "it has left", w.now);
  CHECK(w.coordinator.finished());
  CHECK(w.commander.failure() == "the learner run-learn-1 has ended as lost: it has left");
}

TEST_CASE("commander solo: collectors that fail in a row are too many at some time") {
  CommandedWorld w("solo", solo_settings());
  for (int round = 0; round < 5; ++round) {
    w.finish(live_tasks(w, "collect")[0], TaskState::failed);
    w.finish(live_tasks(w, "collect")[0], TaskState::failed);
    w.finish(live_tasks(w, "collect")[0], TaskState::lost);
    w.finish(live_tasks(w, "collect")[0]);
  }
  CHECK(live_tasks(w, "collect").size() == 3);
  for (int i = 0; i < 3; ++i) {
    CHECK(w.commander.failure().empty());
    w.finish(live_tasks(w, "collect")[0], TaskState::failed);
  }
  CHECK(w.commander.failure() ==
        "3 tasks collect in a row have failed, the last one is run-collect-23: cause");
  for (const std::string& id : live_tasks(w)) w.finish(id);
  CHECK(w.coordinator.finished());
}

// Told to make room for its next attempt, and then superfluous.
TEST_CASE("commander solo: a collector that is being repeated can still be told to finish") {
  json settings = solo_settings();
  settings["collector"]["limits"] = {{"attempts", 2}, {"run", 20}};
  settings["evaluation"]["task"] = test_role();
  CommandedWorld w("solo", settings);
  w.pass(20);
  REQUIRE(w.task("run-collect-1").state == TaskState::closing);
  REQUIRE(w.task("run-collect-1").again);
  SECTION("it ends in between") {
    w.finish("run-collect-1", TaskState::failed);
    CHECK(w.task("run-collect-1").attempt == 1);
    report(w, "run-evaluate-1", 200);
    CHECK(w.task("run-collect-1").how == kFinish);
  }
  SECTION("it does not") {
    report(w, "run-evaluate-1", 200);
    CHECK_FALSE(w.task("run-collect-1").again);
    CHECK(w.task("run-collect-1").how == kFinish);
  }
  for (const std::string& id : live_tasks(w)) w.finish(id, TaskState::failed);
  CHECK(w.coordinator.finished());
  CHECK(w.commander.failure().empty());
}

TEST_CASE("commander solo: a coordinator that was killed while it told all to end is no rescue") {
  CommandedWorld w("solo", solo_settings());
  w.coordinator.finish_all("enough", w.now);
  const auto latched = std::ranges::find(w.effects.records, Edge::latched, &Record::edge);
  REQUIRE(latched != w.effects.records.end());
  w.effects.records.erase(latched + 1, w.effects.records.end());
  const auto next = w.restarted(test_commander("solo", solo_settings()));
  REQUIRE(next);
  for (const std::string& id : live_tasks(*next)) {
    CHECK(next->task(id).state == TaskState::closing);
    next->finish(id);
  }
  CHECK(next->coordinator.finished());
}

TEST_CASE("commander solo: a task that somebody has stopped is not told again") {
  CommandedWorld w("solo", solo_settings());
  w.coordinator.cancel("run-collect-1", "stop", "so", w.now);
  report(w, "run-evaluate-1", 200);
  CHECK(w.task("run-collect-1").how == "stop");
  for (const std::string& id : live_tasks(w)) w.finish(id);
  CHECK(w.coordinator.finished());
}

TEST_CASE("commander solo: a client that has taken the id of its next task ends the run") {
  CommandedWorld w("solo", solo_settings());
  REQUIRE(w.coordinator.submit(trial_task("run-collect-4"), w.now));
  w.finish("run-collect-1");
  CHECK(w.effects.records.back().edge != Edge::created);
  for (const std::string& id : live_tasks(w)) w.finish(id);
  CHECK(w.coordinator.finished());
  const auto latched = std::ranges::find(w.effects.records, Edge::latched, &Record::edge);
  REQUIRE(latched != w.effects.records.end());
  CHECK(latched->cause == "the commander wants a task run-collect-4, which is there already");
}

TEST_CASE("commander solo: a task that is cancelled while it waits is replaced at once") {
  CommandedWorld w("solo", solo_settings(), 0);
  w.coordinator.cancel("run-collect-1", "stop", "so", w.now);
  CHECK(live_tasks(w, "collect") == Ids{"run-collect-2", "run-collect-3", "run-collect-4"});
  w.coordinator.cancel("run-learn-1", "stop", "enough", w.now);
  CHECK(w.coordinator.finished());
}

TEST_CASE("commander solo: what was decided first stays so") {
  CommandedWorld w("solo", solo_settings());
  SECTION("success before a failure") {
    report(w, "run-evaluate-1", 200);
    w.coordinator.worker_unavailable("w", "it has left", w.now);
    CHECK(w.commander.failure().empty());
  }
  SECTION("failure before a success") {
    w.finish("run-learn-1", TaskState::failed);
    report(w, "run-evaluate-1", 200);
    for (const std::string& id : live_tasks(w)) w.finish(id);
    CHECK(w.commander.failure() == "the learner run-learn-1 has ended as failed: cause");
  }
  CHECK(w.coordinator.finished());
}

TEST_CASE("commander solo: no second attempt of what nobody waits for") {
  const auto commander = test_commander("solo", solo_settings());
  std::vector<Task> tasks;
  for (int i = 0; i < 4; ++i) {
    tasks.emplace_back().spec = *commander->next({});
    commander->created(tasks.back());
  }
  CHECK(commander->retry(tasks[2], TaskState::failed, ""));
  commander->told_to_finish(tasks[3]);
  CHECK_FALSE(commander->retry(tasks[3], TaskState::failed, ""));
  CHECK(commander->retry(tasks[0], TaskState::lost, ""));
  tasks[0].state = TaskState::succeeded;
  commander->ended(tasks[0]);
  CHECK_FALSE(commander->retry(tasks[0], TaskState::lost, ""));
  CHECK_FALSE(commander->retry(tasks[2], TaskState::failed, ""));
  CHECK(commander->superfluous() == tasks[1].spec.id);
}

TEST_CASE("commander solo: reports as workers send them, also when they are replayed") {
  CommandedWorld w("solo", solo_settings());
  const std::string text =
      R"({"parameter_id": 0, "trial_job_id": "run-evaluate-1", "type": "FINAL", "sequence": 0,
          "value": "{\"default\": 1, \"reward_mean\": 200}"})";
  const json event = {{"event", "report"}, {"text", text}, {"time", 1.0}, {"position", 1}};
  w.coordinator.info("w", w.held("run-evaluate-1"), 1, 1, event, w.now);
  CHECK(w.task("run-evaluate-1").how == kFinish);
  auto commander = test_commander("solo", solo_settings());
  const Commander& replayed = *commander;
  const auto next = w.restarted(std::move(commander));
  REQUIRE(next);
  CHECK(replayed.save() == w.commander.save());
}

}  // namespace attune::commander_solo_test
