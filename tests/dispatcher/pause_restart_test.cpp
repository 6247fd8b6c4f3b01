// Paused trials across a restart of the daemon.
#include "base/saved_numbers.h"
#include "tests/support/pausing_world.h"

namespace attune::pause_restart_test {

using namespace pausing_world;

std::string resumed_trial(int id, const std::string& job, bool paused,
                          const std::string& checkpoint = "") {
  json entry = {{"parameter_id", id},
                {"parameter_source", "resumed"},
                {"parameters", {{"x", 0.5}}},
                {"trial_job_id", job}};
  if (paused) entry["paused"] = true;
  if (!checkpoint.empty()) entry["checkpoint"] = checkpoint;
  return dump_json(entry);
}

// Of trials 0 and 1, both with a point; the second runs.
json states(int first) { return save_numbers(std::vector<double>{1.0 + 8 * first, 1}); }

TEST_CASE("restart: a paused trial is still paused, and goes on in its job") {
  PausingWorld f;
  f.decide(0, Action::pause);
  f.end("A", 0, "PAUSED", "c1");
  f.restart();
  SECTION("the manager has it") {
    f.daemon->send(
        "AD", "[" + resumed_trial(0, "A", true, "c1") + "," + resumed_trial(1, "B", false) + "]");
    f.tuner->script = {"resume 0", "from 0"};
    f.daemon->send("GE", "2");
    CHECK(f.said() == "TR 2 resume A, TR 3 from c1");
    CHECK(f.tuner->told.empty());
    f.metric("FINAL", 2, "A", "2");
    CHECK(f.tuner->told == Lines{"0 completed 2"});
  }
  SECTION("the manager has lost it") {
    f.daemon->send("AD", "[]");
    f.daemon->send("GE", "1");
    CHECK(f.tuner->told == Lines{"0 failed -"});
    CHECK(f.said() == "TR 2");  // trial 1 again
    f.metric("FINAL", 2, "B2", "2");
    CHECK(f.tuner->told.back() == "1 completed 2");
  }
}

TEST_CASE("restart: a trial that goes on under a fresh id is known by it, and by its job") {
  PausingWorld f;
  f.decide(0, Action::pause);
  f.end("A", 0, "PAUSED", "c1");
  const bool lost = GENERATE(false, true);
  CAPTURE(lost);
  if (lost) f.restart();  // what follows is not in the state that is gone on from
  json state = f.daemon->save();
  if (lost) {
    f.daemon->send(
        "AD", "[" + resumed_trial(0, "A", true, "c1") + "," + resumed_trial(1, "B", false) + "]");
  }
  f.tuner->script = {"resume 0"};
  f.daemon->send("GE", "1");
  CHECK(f.said().ends_with("TR 2 resume A"));
  if (!lost) state = f.daemon->save();
  f.daemon = f.start(f.tuner);
  REQUIRE(f.daemon->restart(through_text(state)).has_value());
  f.daemon->send("IN", kSpace);
  f.daemon->send("AD", "[" + resumed_trial(2, "A", false, "c1") + "]");
  CHECK(f.tuner->adopted.empty());
  f.metric("FINAL", 2, "A", "3");
  f.end("A", 2);
  CHECK(f.tuner->told == Lines{"0 completed 3"});
}

TEST_CASE("restart: a proposal to go on that waits for its pause is not forgotten") {
  PausingWorld f;
  f.decide(0, Action::pause);
  f.tuner->script = {"resume 0 from 1"};
  f.daemon->send("GE", "1");
  f.restart();
  SECTION("paused meanwhile") {
    f.daemon->send("AD", "[" + resumed_trial(0, "A", true, "c1") + "," +
                             resumed_trial(1, "B", false, "c2") + "]");
    f.daemon->send("GE", "1");
    CHECK(f.said() == "TR 3 resume A from c2");
  }
  SECTION("not yet: asked again") {
    f.daemon->send(
        "AD", "[" + resumed_trial(0, "A", false) + "," + resumed_trial(1, "B", false, "c2") + "]");
    CHECK(f.said() == "PA A");
    f.end("A", 0, "PAUSED", "c1");
    f.daemon->send("GE", "1");
    CHECK(f.said() == "TR 3 resume A from c2");
  }
}

TEST_CASE("restart: a pause that the tuner does not know of any more does not last") {
  PausingWorld f;
  f.restart();
  f.daemon->send("AD", "[" + resumed_trial(0, "A", true, "c1") + "," +
                           resumed_trial(1, "B", false) + "," + resumed_trial(7, "N", true, "c2") +
                           "]");
  CHECK(f.tuner->adopted == std::vector<TrialId>{7});  // 0 is known
  f.daemon->send("GE", "3");
  CHECK(f.said() == "TR 8 resume A, TR 9 resume N, TR 10");
}

TEST_CASE("restart under plain NNI: a paused trial has no job, and is kept") {
  PausingWorld f(plain());
  f.decide(0, Action::pause);
  f.end("A", 0, "EARLY_STOPPED");
  f.restart();
  f.daemon->send("FD", "[]");
  f.daemon->send("AD", R"([{"parameter_id":1,"parameters":{"x":0.5}}])");
  f.tuner->script = {"resume 0"};
  f.daemon->send("GE", "1");
  CHECK(f.said() == "TR 2");
  CHECK(f.tuner->told.empty());
  f.metric("FINAL", 2, "C", "5");
  CHECK(f.tuner->told == Lines{"0 completed 5"});
  f.restart();
  f.daemon->send("FD", R"([{"parameter":{"x":0.5},"value":"5","trialJobId":"C"}])");
  CHECK(f.tuner->told.empty());
}

TEST_CASE("restart: a damaged state of paused trials is refused") {
  PausingWorld f;
  f.decide(0, Action::pause);
  f.tuner->script = {"resume 0"};
  f.daemon->send("GE", "1");
  const json good = through_text(f.daemon->save());
  const std::vector<std::pair<std::string, json>> damages = {
      {"/jobs/aliases", "AAAAAAAA8D8="},         {"/jobs/checkpoints", json::array({1})},
      {"/tuner/session/held/0/trial", 1},        {"/tuner/session/held/0/point", ""},
      {"/tuner/session/held/0/ask", ""},         {"/tuner/session/trials/flags", states(3)},
      {"/tuner/session/trials/flags", states(0)}};
  for (const auto& [where, damage] : damages) {
    CAPTURE(where);
    json damaged = good;
    damaged[json::json_pointer(where)] = damage;
    ScriptedTuner* tuner = nullptr;
    CHECK_FALSE(f.start(tuner)->load(damaged).has_value());
  }
}

}  // namespace attune::pause_restart_test
