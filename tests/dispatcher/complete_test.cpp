// A rule stops a trial that has used its whole resource: its last report is its final result. And
// what tuner and assessor decide on the same trial.
#include <catch2/catch.hpp>

#include "base/saved_numbers.h"
#include "tests/support/exact_state.h"
#include "tests/support/scripted_assessor.h"
#include "tests/support/scripted_tuner.h"
#include "tests/support/through_text.h"
#include "tests/support/transcript_text.h"

namespace attune::complete_test {

using exact_state::end;
using exact_state::metric;
using Lines = std::vector<std::string>;

constexpr const char* kSpace = R"({"x":{"_type":"uniform","_value":[0,1]}})";

// A tuner and an assessor that both judge; trials 0, 1 and 2 run as the jobs A, B and C.
struct World {
  explicit World(bool reason = true) {
    options.capabilities = {.sync = true, .reason = reason};
    options.wants_reports = true;
    daemon = start();
    daemon->send("IN", kSpace);
    daemon->send("GE", "3");
    daemon->take();
  }
  std::unique_ptr<Stepped> start() {
    auto owned_tuner = std::make_unique<ScriptedTuner>();
    tuner = owned_tuner.get();
    auto owned_assessor = std::make_unique<ScriptedAssessor>();
    assessor = owned_assessor.get();
    return std::make_unique<Stepped>(std::move(owned_tuner), false, std::move(owned_assessor),
                                     options);
  }
  void accept(const Frame& frame) { daemon->accept(frame.code, frame.payload); }
  void send(const Frame& frame) { daemon->send(frame.code, frame.payload); }
  // A report of trial 0 that completes it: the tuner, or the assessor, says so.
  Frame last_report(bool by_tuner, const std::string& value = "0.25", int step = 0) {
    if (by_tuner) {
      tuner->decisions = {{0, Action::stop, "27 of 27", true}};
    } else {
      assessor->bound = 1;
      assessor->complete = true;
    }
    return metric("PERIODICAL", 0, "A", value, step);
  }
  std::string said() { return outlines(daemon->take()); }

  DispatcherOptions options;
  ScriptedTuner* tuner = nullptr;
  ScriptedAssessor* assessor = nullptr;
  std::unique_ptr<Stepped> daemon;
};

TEST_CASE("complete: the last report is the final result, and the kill says so to who knows it") {
  const bool by_tuner = GENERATE(false, true);
  const bool reason = GENERATE(false, true);
  CAPTURE(by_tuner, reason);
  World w(reason);
  w.send(w.last_report(by_tuner, R"({"default": 0.25, "epoch": 27})"));
  const auto frames = w.daemon->take();
  REQUIRE(frames.size() == 1);
  CHECK(frames[0].code == "KI");
  const std::string why = by_tuner ? "27 of 27" : "0.25 is below 1";
  CHECK(frames[0].payload ==
        (reason ? R"({"trial_job_id":"A","reason":")" + why + R"(","complete":true})" : R"("A")"));
  const Lines told = {"0 completed 0.25 default=0.25 epoch=27"};
  CHECK(w.tuner->told == told);
  w.send(end("A", 0, reason ? "SUCCEEDED" : "EARLY_STOPPED"));
  w.daemon->send("GE", "1");
  w.daemon->send("GE", "1");
  CHECK(w.tuner->told == told);
  CHECK(w.said() == "TR 3, TR 4");
}

TEST_CASE("complete: told once, whatever of the trial comes before and after") {
  const bool by_tuner = GENERATE(false, true);
  CAPTURE(by_tuner);
  World w;
  const auto finish = [&](const std::string& told, const std::string& said) {
    w.daemon->settle();
    for (int i = 0; i < 3; ++i) w.daemon->send("GE", "1");
    CHECK(w.tuner->told == Lines{told});
    CHECK(w.said() == said + "TR 3, TR 4, TR 5");
  };
  SECTION("its own final result comes after the decision") {
    w.send(w.last_report(by_tuner));
    w.send(metric("FINAL", 0, "A", "7"));
    w.send(end("A", 0));
    finish("0 completed 0.25", "KI A, ");
  }
  SECTION("its own final result comes before the decision is made") {
    w.accept(w.last_report(by_tuner));
    w.accept(metric("FINAL", 0, "A", "7"));
    finish("0 completed 7", "KI A, ");
  }
  SECTION("it ends well before the decision is made: no kill") {
    w.accept(w.last_report(by_tuner));
    w.accept(end("A", 0));
    finish("0 completed 0.25", "");
  }
  SECTION("it ends well with a result before the decision is made") {
    w.accept(w.last_report(by_tuner));
    w.accept(metric("FINAL", 0, "A", "7"));
    w.accept(end("A", 0));
    finish("0 completed 7", "");
  }
  SECTION("it fails before the decision is made") {
    w.accept(w.last_report(by_tuner));
    w.accept(end("A", 0, "FAILED"));
    finish("0 failed -", "");
  }
  SECTION("it is canceled before the kill arrives") {
    w.send(w.last_report(by_tuner));
    w.send(end("A", 0, "USER_CANCELED"));
    finish("0 completed 0.25", "KI A, ");
  }
}

TEST_CASE("complete: the result counts as any final result does") {
  const bool by_tuner = GENERATE(false, true);
  World w;
  SECTION("not if it is no number") {
    w.send(w.last_report(by_tuner, "NaN"));
    CHECK(w.tuner->told == Lines{"0 diverged -"});
    CHECK(w.said() == "KI A");
  }
  SECTION("the last step counts, although an earlier one came after it") {
    w.send(metric("PERIODICAL", 0, "A", "0.75", 1));
    w.send(w.last_report(by_tuner, "0.5", 0));
    // A tuner has them in the order in which they came.
    CHECK(w.tuner->told == Lines{by_tuner ? "0 completed 0.5" : "0 completed 0.75"});
  }
}

TEST_CASE("complete: of another trial than the one that reports, its own last report counts") {
  World w;
  w.send(metric("PERIODICAL", 1, "B", R"({"default": 0.5, "epoch": 1})"));
  w.send(metric("PERIODICAL", 1, "B", R"({"default": 0.125, "epoch": 2})", 1));
  w.tuner->decisions = {{1, Action::stop, "the bracket is full", true},
                        {2, Action::stop, "the bracket is full", true}};
  w.send(metric("PERIODICAL", 0, "A", "9"));
  auto frames = w.daemon->take();
  REQUIRE(frames.size() == 1);
  CHECK(frames[0] ==
        Frame{"KI", R"({"trial_job_id":"B","reason":"the bracket is full","complete":true})"});
  CHECK(w.tuner->told == Lines{"1 completed 0.125 default=0.125 epoch=2"});
  // A trial that has not reported by then is only stopped.
  w.send(metric("PERIODICAL", 2, "C", "3"));
  frames = w.daemon->take();
  REQUIRE(frames.size() == 1);
  CHECK(frames[0] == Frame{"KI", R"({"trial_job_id":"C","reason":"the bracket is full"})"});
  w.send(end("C", 2, "EARLY_STOPPED"));
  CHECK(w.tuner->told.back() == "2 stopped -");
}

TEST_CASE("complete: a trial of the manager's own is completed, too, and told to nobody") {
  World w;
  w.assessor->bound = 1;
  w.assessor->complete = true;
  w.send(metric("PERIODICAL", nullptr, "own", "0.5"));
  const auto frames = w.daemon->take();
  REQUIRE(frames.size() == 1);
  CHECK(frames[0].payload.find(R"("complete":true)") != std::string::npos);
  CHECK(w.tuner->told.empty());
}

TEST_CASE("complete: under plain NNI after a pause, which was a kill already") {
  World w(false);
  w.tuner->decisions = {{0, Action::pause, "rung"}};
  w.send(metric("PERIODICAL", 0, "A", "0.5"));
  CHECK(w.said() == "KI A");
  w.tuner->decisions = {{0, Action::stop, "27 of 27", true}};
  w.send(metric("PERIODICAL", 1, "B", "9"));
  w.send(end("A", 0, "EARLY_STOPPED"));
  CHECK(w.said().empty());
  CHECK(w.tuner->told == Lines{"0 completed 0.5"});
}

// ---- both judge

TEST_CASE("both judge: each gets every report") {
  World w;
  struct Listening : ScriptedTuner {
    std::vector<Decision> on_report(const Report& report) override {
      heard.push_back(fmt::format("{} at {}", report.trial, report.step));
      return {};
    }
    Lines heard;
  };
  auto tuner = std::make_unique<Listening>();
  auto assessor = std::make_unique<ScriptedAssessor>();
  Listening& listening = *tuner;
  ScriptedAssessor& assessing = *assessor;
  Stepped daemon(std::move(tuner), false, std::move(assessor), w.options);
  daemon.send("IN", kSpace);
  daemon.send("GE", "2");
  for (const Frame& frame : {metric("PERIODICAL", 0, "A", "1"), metric("PERIODICAL", 1, "B", "2"),
                             metric("PERIODICAL", 0, "A", "3", 1)}) {
    daemon.send(frame.code, frame.payload);
  }
  CHECK(listening.heard == Lines{"0 at 0", "1 at 0", "0 at 1"});
  CHECK(assessing.calls == Lines{"assess 0: 1", "assess 1: 2", "assess 0: 1 3"});
}

TEST_CASE("both judge: who stops a trial first decides whether it is complete") {
  const bool tuner_first = GENERATE(false, true);
  const bool first_completes = GENERATE(false, true);
  CAPTURE(tuner_first, first_completes);
  World w;
  w.tuner->decisions = {{0, Action::stop, "tuner", tuner_first == first_completes}};
  w.assessor->bound = 1;
  w.assessor->complete = tuner_first != first_completes;
  w.accept(metric("PERIODICAL", 0, "A", "0.25"));
  if (tuner_first) {
    REQUIRE(w.daemon->step_tune());
  } else {
    REQUIRE(w.daemon->step_assess());
  }
  // The other one has the report in its queue, and judges it after that.
  w.daemon->settle();
  const auto frames = w.daemon->take();
  REQUIRE(frames.size() == 1);
  const json payload = parse_json(frames[0].payload).value();
  CHECK(payload.at("reason") == (tuner_first ? "tuner" : "0.25 is below 1"));
  CHECK(payload.contains("complete") == first_completes);
  w.send(end("A", 0, first_completes ? "SUCCEEDED" : "EARLY_STOPPED"));
  CHECK(w.tuner->told == Lines{first_completes ? "0 completed 0.25" : "0 stopped -"});
}

TEST_CASE("both judge: the first stop decides also while the job of the trial is not known") {
  World w;
  w.tuner->decisions = {{0, Action::stop, "first"}, {0, Action::stop, "second", true}};
  w.send(metric("PERIODICAL", 0, "", "0.5"));  // a report without a job
  CHECK(w.said().empty());
  w.send(metric("PERIODICAL", 0, "A", "0.5", 1));
  const auto frames = w.daemon->take();
  REQUIRE(frames.size() == 1);
  CHECK(frames[0].payload == R"({"trial_job_id":"A","reason":"first"})");
  CHECK(w.tuner->told.empty());
}

TEST_CASE("both judge: a stop by one replaces the pause that the other has asked for") {
  const bool capable = GENERATE(false, true);
  World w;
  w.options.capabilities.pause = capable;
  w.daemon = w.start();
  w.daemon->send("IN", kSpace);
  w.daemon->send("GE", "1");
  w.daemon->take();
  w.tuner->decisions = {{0, Action::pause, "rung"}};
  w.assessor->bound = 1;
  w.assessor->complete = true;
  w.accept(metric("PERIODICAL", 0, "A", "0.25"));
  REQUIRE(w.daemon->step_tune());
  w.daemon->settle();
  CHECK(w.said() == (capable ? "PA A, KI A" : "KI A"));
  w.send(end("A", 0, "EARLY_STOPPED"));
  CHECK(w.tuner->told == Lines{"0 completed 0.25"});
}

// ---- across saves and resumes

TEST_CASE("complete: a daemon that goes on tells it, too, and once") {
  const bool by_tuner = GENERATE(false, true);
  const bool anew = GENERATE(false, true);
  CAPTURE(by_tuner, anew);
  World w;
  w.accept(w.last_report(by_tuner));
  // The decision has been made, and the result waits for the tuner behind what is saved.
  if (by_tuner) REQUIRE(w.daemon->step_tune());
  REQUIRE(w.daemon->step_assess());
  CHECK(w.said() == "KI A");
  w.daemon->begin_save();
  w.daemon->settle();
  const json state = through_text(w.daemon->saved);
  w.daemon = w.start();
  REQUIRE((anew ? w.daemon->restart(state) : w.daemon->load(state)).has_value());
  w.daemon->settle();
  if (!by_tuner) CHECK(w.assessor->calls.empty());  // it has judged that
  CHECK(w.tuner->told == Lines{"0 completed 0.25"});
  if (anew) {
    w.daemon->send("IN", kSpace);
    w.daemon->send("FD", R"([{"parameter":{"x":0.5},"value":"0.25","trialJobId":"A"}])");
    w.daemon->send("AD", R"([{"parameter_id":1,"parameters":{"x":0.5}},
                             {"parameter_id":2,"parameters":{"x":0.5}}])");
  } else {
    w.send(end("A", 0));
  }
  for (int i = 0; i < 3; ++i) w.daemon->send("GE", "1");
  CHECK(w.tuner->told == Lines{"0 completed 0.25"});
}

TEST_CASE("complete: the last reports of all trials survive a save") {
  World w;
  w.send(metric("PERIODICAL", 1, "B", R"({"default": 0.125, "epoch": 2})"));
  json state = through_text(w.daemon->save());
  const bool old = GENERATE(false, true);
  if (old) state["tuner"]["session"].erase("reported");
  w.daemon = w.start();
  REQUIRE(w.daemon->load(state).has_value());
  w.tuner->decisions = {{1, Action::stop, "the bracket is full", true}};
  w.send(metric("PERIODICAL", 0, "A", "9"));
  CHECK(w.said() == "KI B");
  w.send(end("B", 1, "EARLY_STOPPED"));
  // An earlier attuned had not kept them.
  CHECK(w.tuner->told == Lines{old ? "1 stopped -" : "1 completed 0.125 default=0.125 epoch=2"});
}

TEST_CASE("complete: a damaged state of reports is refused") {
  World w;
  w.send(metric("PERIODICAL", 1, "B", "0.5"));
  const json good = through_text(w.daemon->save());
  const json one = save_numbers(std::vector<double>{1});
  const json two = save_numbers(std::vector<double>{1, 1});
  const std::vector<std::pair<std::string, json>> damages = {
      {"", 1},
      {"/trials", save_numbers(std::vector<double>{7})},
      {"/trials", save_numbers(std::vector<double>{1.5})},
      {"/trials", two},
      {"/metric_names", json::array({1})},
      {"/metric_names", json::array()},
      {"/metric_counts", two},
      {"/metric_counts", save_numbers(std::vector<double>{0})},
      {"/metric_counts", save_numbers(std::vector<double>{9})},
      {"/metric_name", one},
      {"/metric_value", two}};
  for (const auto& [where, damage] : damages) {
    CAPTURE(where, damage.dump());
    json damaged = good;
    damaged[json::json_pointer("/tuner/session/reported" + where)] = damage;
    CHECK_FALSE(w.start()->load(damaged).has_value());
  }
  CHECK(w.start()->load(good).has_value());
}

}  // namespace attune::complete_test
