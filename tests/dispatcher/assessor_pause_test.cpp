// An assessor pauses trials: they continue when the tuner has nothing new to start.
#include "tests/dispatcher/assessor_pause_world.h"

namespace attune::assessor_pause_test {

using namespace assessor_pause;

TEST_CASE("assessor pause: new trials come first, then it continues, then there are no more") {
  const auto nothing = GENERATE("exhausted", "not yet");
  const bool loaded = GENERATE(false, true);
  CAPTURE(nothing, loaded);
  World w;
  w.pause(1, "B");
  w.pause(0, "A");
  w.tuner->proposals = 2;
  CHECK(w.ask(1) == "TR 3");
  if (loaded) w.load();
  // In the order of the pauses.
  CHECK(w.ask(2, {"propose", nothing}) == "TR 4, TR 5 resume B");
  if (loaded) w.load();
  CHECK(w.ask(2, {nothing, "exhausted"}) == "TR 6 resume A, NO 6");
  CHECK(w.ask(1, {"exhausted"}) == "NO 8");
  w.send(metric("FINAL", 6, "A", "4"));
  CHECK(w.tuner->told == Lines{"0 completed 4"});
}

TEST_CASE("assessor pause: an ask that waits is answered with it at once") {
  World w;
  CHECK(w.ask(1, {"not yet"}).empty());
  w.tuner->script = {"not yet", "not yet"};  // asked after the report, and after the pause
  w.report(0, "A", -1);
  CHECK(w.said() == "PA A");
  w.send(end("A", 0, "PAUSED"));
  CHECK(w.said() == "TR 3 resume A");
}

TEST_CASE("assessor pause: it continues unchanged, and is judged again from its next report on") {
  World w;
  w.report(0, "A", 2);
  w.pause(0, "A", 1);
  CHECK(w.assessor->calls == Lines{"assess 0: 2", "assess 0: 2 -1"});
  w.tuner->next = 0.25;
  w.tuner->script = {"exhausted"};
  w.daemon->send("GE", "1");
  const auto frames = w.daemon->take();
  REQUIRE(frames.size() == 1);
  CHECK(
      frames[0].payload ==
      R"({"parameter_id":3,"parameter_source":"algorithm","parameters":{"x":0.5},"parameter_index":0,)"
      R"("resume_trial_job_id":"A"})");
  w.report(3, "A", 3, 2);
  CHECK(w.assessor->calls.back() == "assess 0: 2 -1 3");
  w.pause(3, "A", 3);  // once more
  CHECK(w.ask(1, {"exhausted"}) == "TR 4 resume A");
  w.send(end("A", 4));
  CHECK(w.assessor->calls.back() == "end 0 completed");
}

TEST_CASE("assessor pause: one that the manager makes by itself still comes first") {
  World w;
  w.pause(0, "A");
  w.send(end("B", 1, "PAUSED"));
  CHECK(w.ask(2) == "TR 3 resume B, TR 4");
  CHECK(w.ask(1, {"exhausted"}) == "TR 5 resume A");
}

TEST_CASE("assessor pause: a pause that fails changes nothing, and its next one counts") {
  World w;
  w.report(0, "A", -1);
  w.send(end("A", 0, "PAUSE_FAILED"));
  CHECK(w.said() == "PA A");
  CHECK(w.ask(1, {"exhausted"}) == "NO 3");
  // It is paused without having been asked for.
  w.send(end("A", 0, "PAUSED"));
  CHECK(w.ask(2) == "TR 4 resume A, TR 5");
}

TEST_CASE("assessor pause: what the tuner decides of the trial goes before") {
  World w;
  SECTION("its pause, asked for before: it says when the trial continues") {
    w.tuner->decisions = {{0, Action::pause, "rung"}};
    w.report(0, "A", -1);
    w.send(end("A", 0, "PAUSED"));
    CHECK(w.said() == "PA A");
    CHECK(w.ask(1, {"exhausted"}) == "NO 3");
    CHECK(w.ask(1, {"resume 0"}) == "TR 4 resume A");
  }
  SECTION("its pause, decided later") {
    w.pause(0, "A");
    w.tuner->decisions = {{0, Action::pause, "rung"}};
    w.report(1, "B");
    CHECK(w.said().empty());
    CHECK(w.ask(1, {"exhausted"}) == "NO 3");
    CHECK(w.ask(1, {"resume 0"}) == "TR 4 resume A");
  }
  SECTION("its proposal to continue, which it may only make for a pause of its own") {
    w.pause(0, "A");
    CHECK(w.ask(1, {"resume 0"}) == "TR 3 resume A");
    CHECK(w.ask(1, {"exhausted"}) == "NO 4");
  }
  SECTION("such a proposal for a job that runs: it waits for the next request") {
    w.pause(0, "A");
    w.tuner->script = {"resume 0"};
    w.send(metric("REQUEST_PARAMETER", 1, "B", ""));
    CHECK(w.said() == "SP 3");
    w.load();
    CHECK(w.ask(2) == "TR 4 resume A, TR 5");
  }
  SECTION("a stop") {
    w.pause(0, "A");
    w.tuner->decisions = {{0, Action::stop, "rung"}};
    w.report(1, "B");
    CHECK(w.said() == "KI A");
    w.send(end("A", 0, "EARLY_STOPPED"));
    CHECK(w.tuner->told == Lines{"0 stopped -"});
    CHECK(w.ask(1, {"exhausted"}) == "NO 3");
  }
}

TEST_CASE("assessor pause: a job that runs and asks is not given the trial") {
  World w;
  w.pause(0, "A");
  w.tuner->script = {"exhausted"};
  w.send(metric("REQUEST_PARAMETER", 1, "B", ""));
  const auto frames = w.daemon->take();
  REQUIRE(frames.size() == 1);
  CHECK(parse_json(frames[0].payload)->at("parameters").is_null());
  CHECK(w.ask(1, {"exhausted"}) == "TR 4 resume A");
}

TEST_CASE("assessor pause: a trial that ends while it is paused does not continue") {
  World w;
  w.pause(0, "A");
  w.pause(1, "B");
  const auto [event, told] =
      GENERATE(table<std::string, std::string>({{"USER_CANCELED", "0 stopped -"},
                                                {"FAILED", "0 failed -"},
                                                {"SUCCEEDED", "0 completed -"},
                                                {"a final result", "0 completed 7"}}));
  CAPTURE(event);
  if (event == "a final result") {
    w.send(metric("FINAL", 0, "A", "7"));
  } else {
    w.send(end("A", 0, event));
  }
  w.load();
  CHECK(w.ask(2, {"exhausted", "exhausted"}) == "TR 3 resume B, NO 3");
  if (event == "SUCCEEDED") w.ask(1, {"not yet"});  // a result might have come late
  if (event == "FAILED" || event == "USER_CANCELED" || event == "a final result") {
    CHECK(w.tuner->told.empty());  // by this daemon
  } else {
    CHECK(w.tuner->told == Lines{told});
  }
}

TEST_CASE("assessor pause: in another search space it keeps its turn, or is stopped") {
  World w;
  w.tuner->next = 0.9;
  CHECK(w.ask(1) == "TR 3");
  w.report(3, "D");
  w.pause(3, "D", 1);
  w.pause(0, "A");
  w.tuner->next = 0.5;
  w.daemon->send("SS", R"({"x":{"_type":"uniform","_value":[0,0.6]}})");
  CHECK(w.said() == "KI D");
  w.load();
  w.send(end("D", 3, "EARLY_STOPPED"));
  CHECK(w.ask(1) == "TR 4");
  CHECK(w.ask(2, {"exhausted", "exhausted"}) == "TR 5 resume A, NO 5");
}

TEST_CASE("assessor pause: once the manager declines a new trial, it continues") {
  World w;
  w.pause(0, "A");
  w.pause(1, "B");
  CHECK(w.ask(1) == "TR 3");
  SECTION("declined: canceled before anything was heard of it") {
    w.send(end("declined3", 3, "USER_CANCELED"));
    CHECK(w.tuner->told == Lines{"3 stopped -"});
    if (GENERATE(false, true)) w.load();
    CHECK(w.ask(1) == "TR 4 resume A");
    CHECK(w.ask(2) == "TR 5 resume B, TR 6");
    // Those that are paused later have to wait again.
    w.pause(4, "A", 1);
    CHECK(w.ask(1) == "TR 7");
  }
  SECTION("a trial that has run is not declined") {
    w.report(3, "D");
    w.send(end("D", 3, "USER_CANCELED"));
    CHECK(w.ask(1) == "TR 4");
  }
  SECTION("nor one that has failed before it could report") {
    w.send(end("D", 3, "FAILED"));
    CHECK(w.ask(1) == "TR 4");
  }
}

}  // namespace attune::assessor_pause_test
