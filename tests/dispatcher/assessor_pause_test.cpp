// An assessor pauses trials: they continue when the tuner has nothing new to start.
#include <catch2/catch.hpp>

#include "base/saved_numbers.h"
#include "tests/support/exact_state.h"
#include "tests/support/scripted_assessor.h"
#include "tests/support/scripted_tuner.h"
#include "tests/support/small_manager.h"
#include "tests/support/through_text.h"
#include "tests/support/transcript_text.h"

namespace attune::assessor_pause_test {

using exact_state::end;
using exact_state::metric;
using Lines = std::vector<std::string>;

constexpr const char* kSpace = R"({"x":{"_type":"uniform","_value":[0,1]}})";

struct World {
  explicit World(bool capable = true) {
    options.capabilities = {.sync = true, .reason = true};
    options.capabilities.pause = options.capabilities.checkpoint = capable;
    options.wants_reports = true;
    daemon = start();
    daemon->send("IN", kSpace);
    daemon->send("GE", "3");  // trials 0, 1 and 2: jobs A, B and C
    daemon->take();
  }
  std::unique_ptr<Stepped> start() {
    auto owned_tuner = std::make_unique<ScriptedTuner>();
    auto owned_assessor = std::make_unique<ScriptedAssessor>();
    tuner = owned_tuner.get();
    assessor = owned_assessor.get();
    assessor->action = Action::pause;
    return std::make_unique<Stepped>(std::move(owned_tuner), false, std::move(owned_assessor),
                                     options);
  }
  void send(const Frame& frame) { daemon->send(frame.code, frame.payload); }
  void report(const json& id, const std::string& job, double value = 1, int step = 0) {
    send(metric("PERIODICAL", id, job, dump_json(value), step));
  }
  // The assessor pauses the trial at its next report, and the manager does so.
  void pause(const json& id, const std::string& job, int step = 0) {
    report(id, job, -1, step);
    const bool can = options.capabilities.pause;
    CHECK(said() == (can ? "PA " : "KI ") + job);
    send(end(job, id, can ? "PAUSED" : "EARLY_STOPPED"));
  }
  std::string ask(int count, std::deque<std::string> script = {}) {
    tuner->script = std::move(script);
    daemon->send("GE", std::to_string(count));
    return said();
  }
  // Another daemon goes on from what this one saved.
  void load() {
    const json state = through_text(daemon->save());
    daemon = start();
    REQUIRE(daemon->load(state).has_value());
    REQUIRE(dump_json(daemon->save()) == dump_json(state));
  }
  // The same for a manager that starts anew.
  void restart() {
    const json state = through_text(daemon->save());
    daemon = start();
    REQUIRE(daemon->restart(state).has_value());
    daemon->send("IN", kSpace);
    daemon->take();
  }
  std::string said() { return outlines(daemon->take()); }

  DispatcherOptions options;
  ScriptedTuner* tuner = nullptr;
  ScriptedAssessor* assessor = nullptr;
  std::unique_ptr<Stepped> daemon;
};

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

// ---- managers that cannot pause

TEST_CASE("assessor pause under plain NNI: a kill, and the trial begins again as a new job") {
  World w(false);
  w.pause(0, "A");
  CHECK(w.tuner->told.empty());
  CHECK(w.ask(1) == "TR 3");
  if (GENERATE(false, true)) w.load();
  w.tuner->script = {"exhausted"};
  w.daemon->send("GE", "1");
  const auto frames = w.daemon->take();
  REQUIRE(frames.size() == 1);
  CHECK(
      frames[0].payload ==
      R"({"parameter_id":4,"parameter_source":"algorithm","parameters":{"x":0.5},"parameter_index":0})");
  w.report(4, "D", 5);  // its first step again
  CHECK(w.assessor->calls.back() == "assess 0: 5");
  w.report(4, "D", 6, 1);
  CHECK(w.assessor->calls.back() == "assess 0: 5 6");
  SECTION("it ends") {
    w.send(metric("FINAL", 4, "D", "2"));
    w.send(end("D", 4));
    CHECK(w.tuner->told == Lines{"0 completed 2"});
    CHECK(w.assessor->calls.back() == "end 0 completed");
  }
  SECTION("it is paused once more") {
    w.pause(4, "D", 2);
    CHECK(w.ask(2, {"exhausted", "exhausted"}) == "TR 5, NO 5");
  }
}

TEST_CASE("assessor pause under plain NNI: a trial that ends by itself meanwhile has ended") {
  World w(false);
  w.report(0, "A", -1);
  w.send(end("A", 0, "FAILED"));
  CHECK(w.said() == "KI A");
  CHECK(w.tuner->told == Lines{"0 failed -"});
  CHECK(w.ask(1, {"exhausted"}) == "NO 3");
}

// ---- restarts

std::string resumed(int id, const std::string& job, bool paused) {
  json entry = {{"parameter_id", id},
                {"parameter_source", "resumed"},
                {"parameters", {{"x", 0.5}}},
                {"trial_job_id", job}};
  if (paused) entry["paused"] = true;
  return dump_json(entry);
}

TEST_CASE("assessor pause: a manager that starts anew says whether the trial is still paused") {
  World w;
  w.pause(0, "A");
  w.restart();
  const std::string others = resumed(1, "B", false) + "," + resumed(2, "C", false);
  SECTION("it is: it waits until there is nothing new") {
    w.daemon->send("AD", "[" + resumed(0, "A", true) + "," + others + "]");
    CHECK(w.ask(1) == "TR 3");
    CHECK(w.ask(1, {"exhausted"}) == "TR 4 resume A");
  }
  SECTION("it runs") {
    w.daemon->send("AD", "[" + resumed(0, "A", false) + "," + others + "]");
    CHECK(w.ask(1, {"exhausted"}) == "NO 3");
  }
  SECTION("it is lost") {
    w.daemon->send("AD", "[" + others + "]");
    CHECK(w.ask(1, {"exhausted"}) == "NO 3");
    CHECK(w.tuner->told == Lines{"0 failed -"});
  }
}

TEST_CASE("assessor pause: under plain NNI it survives a manager that starts anew") {
  World w(false);
  w.pause(0, "A");
  w.restart();
  w.daemon->send("AD", R"([{"parameter_id":1,"parameters":{"x":0.5}},
                           {"parameter_id":2,"parameters":{"x":0.5}}])");
  CHECK(w.ask(1) == "TR 3");
  CHECK(w.ask(2, {"exhausted", "exhausted"}) == "TR 4, NO 4");
  w.send(metric("FINAL", 4, "D", "2"));
  CHECK(w.tuner->told == Lines{"0 completed 2"});
}

TEST_CASE("assessor pause: states of earlier versions are loaded, damaged ones are refused") {
  World w;
  w.pause(0, "A");
  w.pause(1, "B");
  const json good = through_text(w.daemon->save());
  json old = good;
  old["tuner"]["session"].erase("set_aside");
  CHECK(w.start()->load(old).has_value());
  const auto ids = [](std::vector<double> list) { return save_numbers(list); };
  for (const json& damage : {json(1), ids({2}), ids({7}), ids({0, 0}), ids({0.5})}) {
    CAPTURE(damage.dump());
    json damaged = good;
    damaged["tuner"]["session"]["set_aside"] = damage;
    CHECK_FALSE(w.start()->load(damaged).has_value());
  }
}

// ---- a whole search

// Pauses each trial once, at its second report.
class PausingAssessor : public Assessor {
 public:
  Decision assess(TrialId trial, std::span<const Report> reports) override {
    const bool pause = reports.size() == 2 && seen_.insert(trial).second;
    return {trial, pause ? Action::pause : Action::keep_going, "second report"};
  }
  void trial_end(TrialId trial, End) override { seen_.erase(trial); }
  json save() const override { return {{"seen", seen_}}; }
  Result<void> load(const json& state) override {
    for (const json& trial : TRY(array_at(state, "seen"))) seen_.insert(trial.get<TrialId>());
    return {};
  }

 private:
  std::set<TrialId> seen_;
};

TEST_CASE("assessor pause: in a whole search all are started once, and then all are finished") {
  const int concurrency = GENERATE(1, 3, 20);
  const int restart_every = GENERATE(0, 2);
  CAPTURE(concurrency, restart_every);
  DispatcherOptions options;
  options.capabilities = {.sync = true, .pause = true, .checkpoint = true, .reason = true};
  const std::string space = R"({"x":{"_type":"choice","_value":[0,1,2,3,4,5,6,7]}})";
  const auto make = [&] {
    auto tuner = make_tuner(builtin_tuners(), "GridSearch", {}, {}, 1).value();
    return std::make_unique<Stepped>(std::move(tuner.tuner), false,
                                     std::make_unique<PausingAssessor>(), options);
  };
  auto daemon = make();
  int resumed_before_the_last_new = 0, resumed_all = 0, started = 0;
  const auto send = [&](const std::string& code, const std::string& payload) {
    daemon->send(code, payload);
    auto frames = daemon->take();
    for (const Frame& frame : frames) {
      if (frame.code != "TR") continue;
      const bool resumed = frame.payload.find("resume_trial_job_id") != std::string::npos;
      resumed_all += resumed ? 1 : 0;
      started += resumed ? 0 : 1;
      if (!resumed) resumed_before_the_last_new = resumed_all;
    }
    return frames;
  };
  SmallManager manager(send, options.capabilities, concurrency, 4);
  manager.start(space);
  for (int round = 1; manager.step(); ++round) {
    if (restart_every == 0 || round % restart_every != 0) continue;
    const json state = through_text(daemon->save());
    daemon = make();
    REQUIRE(daemon->restart(state).has_value());
    manager.restart(send, space);
  }
  CHECK(started == 8);
  CHECK(resumed_all == 8);
  CHECK(resumed_before_the_last_new == 0);
  CHECK(manager.steps == 8 * 4);
  CHECK(manager.live() == 0);
}

}  // namespace attune::assessor_pause_test
