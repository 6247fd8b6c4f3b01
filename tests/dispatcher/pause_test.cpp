// Pausing and going on, stepped by hand with a scripted tuner, under a manager that can do all of
// it.
#include <fstream>

#include "tests/support/pausing_world.h"
#include "tests/support/scripted_assessor.h"
#include "tests/support/temporary_folder.h"

namespace attune::pause_test {

using namespace pausing_world;

TEST_CASE("pause: a trial is paused, goes on in its job under a fresh id, and ends once") {
  PausingWorld f;
  f.decide(0, Action::pause);
  const auto frames = f.daemon->take();
  REQUIRE(frames.size() == 1);
  CHECK(frames[0] == Frame{"PA", R"({"trial_job_id":"A","reason":"rung"})"});
  f.end("A", 0, "PAUSED", "c1");
  CHECK(f.tuner->told.empty());
  f.tuner->script = {"resume 0"};
  f.daemon->send("GE", "1");
  const auto resumed = f.daemon->take();
  REQUIRE(resumed.size() == 1);
  CHECK(
      resumed[0].payload ==
      R"({"parameter_id":2,"parameter_source":"algorithm","parameters":{"x":0.5,"TRIAL_BUDGET":9},)"
      R"("parameter_index":0,"resume_trial_job_id":"A"})");
  f.report(2, "A");
  f.metric("FINAL", 2, "A", "0.25");
  f.end("A", 2);
  CHECK(f.tuner->told == Lines{"0 completed 0.25"});
  f.daemon->send("GE", "1");
  CHECK(f.said() == "TR 3");
}

TEST_CASE("pause: the manager hears why a trial goes on, if it understands reasons") {
  DispatcherOptions options = capable();
  options.capabilities.reason = GENERATE(true, false);
  PausingWorld f(options);
  f.decide(0, Action::pause);
  f.tuner->reason = "the best of 3";
  f.tuner->script = {"resume 0"};
  f.daemon->send("GE", "1");
  f.daemon->take();
  f.end("A", 0, "PAUSED");  // the offer has waited for it
  const auto frames = f.daemon->take();
  REQUIRE(frames.size() == 1);
  const json resumed = parse_json(frames[0].payload).value();
  CHECK(resumed["resume_trial_job_id"] == "A");
  CHECK(resumed.value("reason", "") == (options.capabilities.reason ? "the best of 3" : ""));
}

TEST_CASE("pause: the log says why, and names the job, whatever the manager understands") {
  const bool capable_manager = GENERATE(false, true);
  const TemporaryFolder folder;
  const std::string file = folder.path / "log";
  PausingWorld f(capable_manager ? capable() : plain(),
                 Log::to_file(file, LogLevel::info, false).value());
  f.decide(0, Action::pause);
  f.tuner->decisions = {{1, Action::stop, "the worst"}};
  f.report(1, "B");
  f.tuner->reason = "the best of 3";
  f.tuner->script = {"resume 0"};
  f.daemon->send("GE", "1");
  f.end("A", 0, capable_manager ? "PAUSED" : "EARLY_STOPPED", capable_manager ? "c1" : "");
  f.log.flush();
  Lines said;
  std::ifstream lines(file);
  for (std::string line; std::getline(lines, line);) {
    const auto at = line.find("/MainThread) ");
    REQUIRE(at != std::string::npos);
    said.push_back(line.substr(at + 13));
  }
  CHECK(said ==
        Lines{"job A is paused: rung", "job B is stopped early: the worst",
              capable_manager ? "job A goes on: the best of 3" : "trial 0 goes on: the best of 3"});
}

TEST_CASE("pause: asked for once, not of a trial that is being killed or has ended") {
  PausingWorld f;
  f.decide(0, Action::pause);
  f.decide(0, Action::pause);
  CHECK(f.said() == "PA A");
  f.decide(1, Action::stop);
  f.decide(1, Action::pause);
  CHECK(f.said() == "KI B");
  f.end("A", 0);
  f.decide(0, Action::pause);
  CHECK(f.said().empty());
}

TEST_CASE("pause: a decision on a trial whose job is not known waits for it") {
  PausingWorld f;
  f.daemon->send("GE", "1");
  f.decide(2, Action::pause);
  CHECK(f.said() == "TR 2");
  SECTION("and is carried out") {
    f.report(2, "C");
    CHECK(f.said() == "PA C");
  }
  SECTION("a stop takes its place") {
    f.decide(2, Action::stop);
    f.report(2, "C");
    CHECK(f.said() == "KI C");
  }
}

TEST_CASE("pause: a proposal to go on waits until the trial is paused") {
  PausingWorld f;
  f.decide(0, Action::pause);
  f.tuner->script = {"resume 0"};
  f.daemon->send("GE", "1");
  CHECK(f.said() == "PA A");
  SECTION("which it is") {
    f.end("A", 0, "PAUSED", "c1");
    CHECK(f.said() == "TR 2 resume A");
  }
  SECTION("it could not be paused: it goes on by itself, something else is tried") {
    f.end("A", 0, "PAUSE_FAILED");
    CHECK(f.said() == "TR 2");
    CHECK(f.tuner->told.empty());
    f.metric("FINAL", 0, "A", "1");
    CHECK(f.tuner->told == Lines{"0 completed 1"});
  }
  SECTION("it ends first") {
    f.end("A", 0, "FAILED");
    CHECK(f.said() == "TR 2");
    CHECK(f.tuner->told == Lines{"0 failed -"});
  }
  SECTION("its result comes first, then the pause: nobody will ask for it any more") {
    f.metric("FINAL", 0, "A", "1");
    CHECK(f.said() == "TR 2");
    f.end("A", 0, "PAUSED", "c1");
    CHECK(f.said() == "KI A");
  }
}

TEST_CASE("pause: a tuner that has no answer yet is asked again after a pause and a failed one") {
  const auto event = GENERATE("PAUSED", "PAUSE_FAILED");
  PausingWorld f;
  f.decide(0, Action::pause);
  f.tuner->script = {"not yet"};
  f.daemon->send("GE", "1");
  CHECK(f.said() == "PA A");
  f.end("A", 0, event);
  CHECK(f.said() == "TR 2");
}

TEST_CASE("pause: a tuner that waits while all trials are paused is taken to have no more") {
  PausingWorld f;
  f.decide(0, Action::pause);
  f.decide(1, Action::pause);
  f.end("A", 0, "PAUSED");
  f.tuner->script = {"not yet", "not yet"};
  f.daemon->send("GE", "1");
  CHECK(f.said() == "PA A, PA B");  // B may still bring something
  f.end("B", 1, "PAUSED");
  CHECK(f.said() == "NO 2");
  f.tuner->script = {"resume 1"};
  f.daemon->send("GE", "1");
  CHECK(f.said() == "TR 3 resume B");
}

TEST_CASE("pause: a paused trial can be stopped, by the tuner and by the manager") {
  PausingWorld f;
  f.decide(0, Action::pause);
  f.end("A", 0, "PAUSED", "c1");
  f.daemon->take();
  SECTION("by the tuner") {
    f.decide(0, Action::stop);
    CHECK(f.said() == "KI A");
    f.end("A", 0, "EARLY_STOPPED");
    CHECK(f.tuner->told == Lines{"0 stopped -"});
  }
  SECTION("by the manager") {
    f.end("A", 0, "USER_CANCELED");
    CHECK(f.tuner->told == Lines{"0 stopped -"});
  }
  SECTION("while the proposal to go on is on its way: something else is tried") {
    f.tuner->script = {"resume 0"};
    f.daemon->accept("GE", "1");
    f.daemon->accept("EN", R"({"trial_job_id":"A","event":"USER_CANCELED"})");
    f.daemon->settle();
    CHECK(f.said() == "TR 2");
    CHECK(f.tuner->told == Lines{"0 stopped -"});
  }
}

TEST_CASE(
    "pause: a trial that the manager pauses of its own accord goes on with the next request") {
  PausingWorld f;
  f.end("A", 0, "PAUSED", "c1");
  f.daemon->send("GE", "2");
  CHECK(f.said() == "TR 2 resume A, TR 3");
  f.metric("FINAL", 2, "A", "4");
  CHECK(f.tuner->told == Lines{"0 completed 4"});
}

TEST_CASE("pause: a running job that asks for parameters is not given a paused trial") {
  PausingWorld f;
  f.decide(0, Action::pause);
  f.end("A", 0, "PAUSED");
  f.tuner->script = {"resume 0"};
  f.daemon->send("ME", R"({"trial_job_id":"B","type":"REQUEST_PARAMETER","parameter_index":1})");
  CHECK(f.said() == "PA A, SP 2");
  f.daemon->send("GE", "1");
  CHECK(f.said() == "TR 3 resume A");
}

TEST_CASE("pause: one that has ended or never ran does not go on") {
  PausingWorld f;
  f.end("A", 0, "FAILED");
  f.tuner->script = {"resume 0", "resume 77", "resume 1"};  // 1 runs
  f.daemon->send("GE", "1");
  CHECK(f.said() == "TR 2");
}

TEST_CASE("pause: in another search space paused trials go on, those that do not fit are stopped") {
  PausingWorld f;
  f.tuner->next = 0.9;
  f.daemon->send("GE", "1");
  f.report(2, "C");
  f.decide(0, Action::pause);
  f.decide(2, Action::pause);
  f.end("A", 0, "PAUSED");
  f.end("C", 2, "PAUSED");
  f.daemon->take();
  f.tuner->next = 0.5;
  f.daemon->send("SS", R"({"x":{"_type":"uniform","_value":[0,0.6]}})");
  CHECK(f.said() == "KI C");
  CHECK(f.tuner->adopted == std::vector<TrialId>{0, 1});
  f.daemon->send("GE", "2");
  CHECK(f.said() == "TR 3 resume A, TR 4");
}

TEST_CASE("pause: the assessor keeps the history of a paused trial, and hears of no end") {
  auto owned = std::make_unique<ScriptedAssessor>();
  ScriptedAssessor* assessor = owned.get();
  DispatcherOptions options = capable();
  options.wants_reports = false;
  Stepped daemon(std::make_unique<ScriptedTuner>(), false, std::move(owned), options);
  daemon.send("IN", kSpace);
  daemon.send("GE", "1");
  const auto report = [&](int id, int sequence) {
    daemon.send("ME", dump_json({{"parameter_id", id},
                                 {"trial_job_id", "A"},
                                 {"type", "PERIODICAL"},
                                 {"sequence", sequence},
                                 {"value", std::to_string(sequence + 1)}}));
  };
  report(0, 0);
  daemon.send("EN", R"({"trial_job_id":"A","event":"PAUSED","checkpoint":"c1"})");
  daemon.send("GE", "1");
  report(1, 1);
  CHECK(assessor->calls == Lines{"assess 0: 1", "assess 0: 1 2"});
}

}  // namespace attune::pause_test
