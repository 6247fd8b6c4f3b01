// Trials that an assessor paused, where more is between pause and continuation than a manager that
// can do both: one that cannot pause, restarts, a whole search.
#include "base/saved_numbers.h"
#include "tests/dispatcher/assessor_pause_world.h"
#include "tests/support/small_manager.h"

namespace attune::assessor_pause_restart_test {

using namespace assessor_pause;

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

}  // namespace attune::assessor_pause_restart_test
