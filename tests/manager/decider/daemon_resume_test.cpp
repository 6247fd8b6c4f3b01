// Whoever is killed, daemon or manager: the conversation goes on as if nobody had been.
#include <fmt/format.h>

#include <catch2/catch.hpp>
#include <functional>

#include "tests/manager/decider/recording_manager.h"

namespace attune::daemon_resume_test {

using Texts = std::vector<std::string>;
using Manager = RecordingManager;

std::string metric(const std::string& job, int value) {
  return fmt::format(
      R"({{"parameter_id":0,"trial_job_id":"{}","type":"PERIODICAL","sequence":0,"value":"{}"}})",
      job, value);
}

// What a session says, step by step, and how much it has heard after each.
struct Step {
  std::function<void(Manager&)> say;
  std::size_t heard;
};
const std::vector<Step>& session() {
  static const std::vector<Step> steps = {
      {[](Manager& m) { m.decider->next(2); }, 2},
      {[](Manager& m) {
         m.add("t0", 0);
         m.add("t1", 1);
         m.decider->on_result("t0", metric("t0", 5));
         m.decider->on_result("t0", metric("t0", 101));
       },
       3},
      {[](Manager& m) {
         m.decider->on_remove("t0", TrialEnd::Event::early_stopped);
         m.running.erase("t0");
         m.decider->on_result("t1", metric("t1", 60));
       },
       4},
      {[](Manager& m) { m.decider->on_checkpoint("t1", "c1"); }, 5},
      {[](Manager& m) { m.decider->on_result("t1", metric("t1", 50)); }, 6},
      {[](Manager& m) {
         m.decider->on_paused("t1", "c2");
         m.decider->next(1);
       },
       7},
      {[](Manager& m) {
         m.add("t1", 2);
         m.decider->on_result("t1", metric("t1", 7));
         m.decider->next(3);
       },
       10},
      {[](Manager& m) { m.decider->sync("the end"); }, 11},
  };
  return steps;
}
const Texts kLimit = {"FAKE_LIMIT=5"};

Texts undisturbed() {
  Manager manager(kLimit);
  manager.start(false);
  for (const Step& step : session()) {
    step.say(manager);
    manager.commit();
    REQUIRE(manager.heard(step.heard));
  }
  CHECK(manager.anew == 1);
  CHECK(manager.warnings.empty());
  return manager.events;
}

TEST_CASE("daemon resume: one that dies with every few commands is started again each time") {
  const Texts expected = undisturbed();
  const std::string how =
      GENERATE("before 1", "after 1", "before 2", "after 3", "before 5", "after 7");
  CAPTURE(how);
  Manager manager({"FAKE_LIMIT=5", "FAKE_DIE=" + how});
  manager.start(false);
  for (const Step& step : session()) {
    step.say(manager);
    manager.commit();
    REQUIRE(manager.heard(step.heard));
  }
  CHECK(manager.events == expected);
  CHECK_FALSE(manager.warnings.empty());
  CHECK(manager.warnings[0].find("killed by signal 9") != std::string::npos);
  CHECK(manager.warnings[0].find("started again") != std::string::npos);
  CHECK(manager.anew == 1);
  CHECK(manager.resumed == 0);
}

TEST_CASE("daemon resume: a manager that is killed loses nothing and hears nothing twice") {
  const Texts expected = undisturbed();
  // Where in each step: before what it says is kept, before it is sent, before what it hears is
  // kept.
  const int moment = GENERATE(0, 1, 2);
  CAPTURE(moment);
  Manager manager(kLimit);
  manager.start(false);
  manager.run_until([&] { return manager.anew == 1; });
  for (const Step& step : session()) {
    step.say(manager);
    if (moment == 0) {
      // Nothing was kept before the first step.
      const int before = manager.resumed + manager.anew;
      manager.start_again();
      REQUIRE(manager.run_until([&] { return manager.resumed + manager.anew > before; }));
      step.say(manager);
    }
    manager.commit();
    if (moment == 1) manager.start_again();
    if (moment == 2) {
      REQUIRE(manager.run_until([&] { return manager.events.size() == step.heard; }, false));
      manager.start_again();
    }
    REQUIRE(manager.heard(step.heard));
  }
  CHECK(manager.events == expected);
  CHECK(manager.anew == (moment == 0 ? 2 : 1));
  CHECK(manager.resumed > 0);
  CHECK(manager.warnings.empty());
}

TEST_CASE("daemon resume: acknowledged commands leave the outbox") {
  Manager manager;
  manager.start(false);
  manager.decider->next(2);
  REQUIRE(manager.heard(2));
  REQUIRE(manager.run_until([&] { return manager.outbox.kept->commands.empty(); }));
  // GE, perhaps RC, PI; and answers that are not spoken of again.
  CHECK(manager.outbox.kept->counts.acknowledged == manager.outbox.kept->counts.commands);
  CHECK(manager.outbox.kept->counts.answers == 3);
  manager.start_again();
  REQUIRE(manager.run_until([&] { return manager.resumed == 1; }));
  manager.decider->next(1);
  REQUIRE(manager.heard(3));
}

TEST_CASE("daemon resume: results are told in pieces that the daemon takes") {
  Manager manager;
  manager.start(false);
  const ImportData::Record record{{{"x", 1}}, 0.5, "t9"};
  manager.decider->import({2001, record});
  manager.decider->import({});
  CHECK(manager.outbox.appended == 3);
}

TEST_CASE("daemon resume: one that remembers something else is refused") {
  const std::string lie = GENERATE("+1", "-1");
  Manager manager({"FAKE_THROUGH=" + lie});
  manager.start(false);
  manager.decider->next(1);
  REQUIRE(manager.heard(1));
  REQUIRE(manager.run_until([&] { return manager.outbox.kept->commands.empty(); }));
  const std::uint64_t count = manager.outbox.kept->counts.acknowledged;
  manager.start_again();
  REQUIRE(manager.run_until([&] { return !manager.failure.empty(); }));
  CAPTURE(manager.failure);
  CHECK(manager.failure.find(
            lie == "+1"
                ? fmt::format("it remembers {} commands of this experiment, and it has been "
                              "sent no more than {}",
                              count + 1, count)
                : fmt::format("it remembers {} commands of this experiment, and it has "
                              "acknowledged {}",
                              count - 1, count)) != std::string::npos);
  CHECK(manager.failure.find("remove the journal") != std::string::npos);
  CHECK(manager.resumed == 0);
}

TEST_CASE("daemon resume: one that cannot go on begins anew, and so do the counts") {
  Manager manager({"FAKE_THROUGH=none"});
  manager.start(false);
  manager.decider->next(1);
  REQUIRE(manager.heard(1));
  manager.start_again();
  REQUIRE(manager.run_until([&] { return manager.anew == 2; }));
  CHECK(manager.resumed == 0);
  REQUIRE(manager.warnings.size() == 1);
  CHECK(manager.warnings[0].find("begins afresh") != std::string::npos);
  CHECK_FALSE(manager.outbox.kept.has_value());
  // So a manager that is killed before it has told anything is followed by one that tells it.
  manager.start_again();
  REQUIRE(manager.run_until([&] { return manager.anew == 3; }));
  CHECK(manager.resumed == 0);
}

TEST_CASE("daemon resume: one that lost its memory is told so while the experiment runs") {
  Manager manager({"FAKE_THROUGH=none", "FAKE_DIE=before 3"});
  manager.start(false);
  for (int i = 0; i < 3; ++i) manager.decider->next(1);
  REQUIRE(manager.run_until([&] { return manager.anew == 2; }));
  CHECK(manager.warnings.size() == 2);
  CHECK(manager.warnings[1].find("begins afresh") != std::string::npos);
  CHECK_FALSE(manager.outbox.kept.has_value());
}

TEST_CASE("daemon resume: a trial may end before one that lost its memory was told of it") {
  Manager manager({"FAKE_THROUGH=none", "FAKE_DIE=before 3"});
  manager.start(false);
  manager.decider->next(1);
  REQUIRE(manager.heard(1));
  manager.add("t0", 0);
  for (int i = 0; i < 2; ++i) manager.decider->next(1);
  REQUIRE(manager.run_until([&] { return manager.anew == 2; }));
  const int before = manager.outbox.appended;
  manager.decider->on_complete("t0", 1);
  CHECK(manager.outbox.appended == before + 1);
}

TEST_CASE("daemon resume: what is said while nobody listens is bounded, and not lost") {
  Manager manager({"FAKE_DIE=before 1"});
  manager.start(false);
  REQUIRE(manager.run_until([&] { return manager.anew == 1; }));
  const std::string text = metric("t0", 5) + std::string(100'000, ' ');
  int said = 0;
  for (; !manager.decider->congested() && said < 1000; ++said)
    manager.decider->on_result("t0", text);
  CHECK(said < 1000);
  manager.commit();
  REQUIRE(manager.run_until([&] { return !manager.decider->congested(); }));
  manager.decider->sync("all");
  CHECK(manager.heard(1));
  CHECK(static_cast<int>(manager.warnings.size()) >= said);  // one death each
}

TEST_CASE("daemon resume: not too often, and not against its will") {
  struct Row {
    Texts environment;
    int restarts;
    std::string message;
  };
  const Row row = GENERATE(values<Row>({
      {{"FAKE_DIE=before 1"}, 3, "killed by signal 9"},
      {{"FAKE_DIE=before 1", "FAKE_EXIT=1"}, 3, "exit code 1"},
      {{"FAKE_DIE=before 1", "FAKE_EXIT=2"}, 0, "exit code 2"},
      {{"FAKE_DIE=before 1", "FAKE_EXIT=3"}, 0, "exit code 3"},
      {{"FAKE_DIE=before 1", "FAKE_EXIT=0"}, 3, "exit code 0"},
      {{"FAKE_DAEMON=error"}, 0, "the space is empty"},
      {{"FAKE_DAEMON=dies"}, 0, "no such tuner"},
  }));
  CAPTURE(row.environment);
  Manager manager(row.environment);
  manager.most_restarts = 3;
  manager.start(false);
  for (int i = 0; i < 9; ++i) manager.decider->next(1);
  REQUIRE(manager.run_until([&] { return !manager.failure.empty(); }));
  CAPTURE(manager.failure);
  CHECK(manager.failure.find(row.message) != std::string::npos);
  CHECK(static_cast<int>(manager.warnings.size()) == row.restarts);
  // What is said to nobody is kept for a later one.
  CHECK(manager.decider->remembers());
  const int before = manager.outbox.appended;
  manager.decider->on_result("t0", metric("t0", 1));
  CHECK(manager.outbox.appended == before + 1);
}

TEST_CASE("daemon resume: a request that cannot be answered for now stays") {
  Manager manager({"FAKE_FULL=1"});
  manager.start(false);
  manager.decider->next(2);
  REQUIRE(manager.heard(2));  // with the next command: a ping
  CHECK(manager.postponed == Texts{"the disk is full"});
  // It has no number: TR, TR.
  REQUIRE(manager.run_until([&] { return manager.outbox.kept->commands.empty(); }));
  CHECK(manager.outbox.kept->counts.answers == 3);  // and PO
}

TEST_CASE("daemon resume: after a kill none is started again") {
  Manager manager({"FAKE_DIE=before 1"});
  manager.start(false);
  REQUIRE(manager.run_until([&] { return manager.anew == 1; }));
  manager.decider->next(1);
  manager.commit();
  manager.decider->next(1);  // not committed: the next daemon waits for that
  REQUIRE(manager.run_until([&] { return !manager.warnings.empty(); }, false));
  manager.decider->kill();
  std::filesystem::remove_all(manager.folder.path);  // where it would have to be started
  manager.commit();
  CHECK(manager.failure.empty());
}

TEST_CASE("daemon resume: an orderly end is no part of what is said later") {
  Manager manager;
  manager.start(false);
  manager.decider->next(1);
  REQUIRE(manager.heard(1));
  manager.decider->close();
  REQUIRE(manager.run_until([&] { return manager.closed; }));
  manager.start_again();
  manager.decider->next(1);
  REQUIRE(manager.heard(2));
  CHECK(manager.anew == 1);
  CHECK(manager.resumed == 1);
  CHECK(manager.failure.empty());
}

}  // namespace attune::daemon_resume_test
