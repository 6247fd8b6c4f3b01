// A tuner that has proposed all there is, and goes on with what it knows.
#include "dispatcher/repeating_tuner.h"

#include <catch2/catch.hpp>

#include "space/parse.h"
#include "tests/support/scripted_tuner.h"
#include "tests/support/stepped.h"
#include "tests/support/transcript_text.h"
#include "tests/support/trial_words.h"

namespace attune::repeating_tuner_test {

const std::string kSpace = R"({"x":{"_type":"uniform","_value":[0,1]}})";

// "3: 0.5": the ids that were answered, with x; or "NO".
std::string said(Stepped& daemon) {
  std::string text;
  for (const Frame& frame : daemon.take()) {
    if (frame.code != "TR" && frame.code != "NO") continue;
    const json trial = parse_json(frame.payload).value();
    text += text.empty() ? "" : ", ";
    text += frame.code == "NO" ? "NO"
                               : dump_json(trial.at("parameter_id")) + ": " +
                                     dump_json(trial.at("parameters").at("x"));
  }
  return text;
}

struct World {
  World() : daemon(start(tuner)) {
    daemon->send("IN", kSpace);
    for (const double x : {0.25, 0.5, 0.75}) {
      tuner->next = x;
      daemon->send("GE", "1");
    }
    daemon->take();
    tuner->proposals = 0;
  }
  static std::unique_ptr<Stepped> start(ScriptedTuner*& tuner) {
    auto owned = std::make_unique<ScriptedTuner>();
    tuner = owned.get();
    return std::make_unique<Stepped>(make_repeating(std::move(owned)), false, nullptr);
  }
  void finish(int id, const std::string& value) const {
    daemon->send("ME", final_metric(id, value));
    daemon->send("EN", trial_end(id));
  }

  ScriptedTuner* tuner = nullptr;
  std::unique_ptr<Stepped> daemon;
};

TEST_CASE(
    "when exhausted: what has a result comes again, the best first, and the tuner learns it") {
  World w;
  w.finish(0, "3");
  w.finish(1, "1");
  w.daemon->send("EN", trial_end(2, "FAILED"));
  w.daemon->send("GE", "3");
  CHECK(said(*w.daemon) == "3: 0.5, 4: 0.25, 5: 0.5");
  CHECK(w.tuner->adopted == std::vector<TrialId>{3, 4, 5});
  w.finish(3, "9");  // by the mean of its results it is no longer the best
  w.finish(5, "9");
  CHECK(w.tuner->told.back() == "5 completed 9");
  w.daemon->send("GE", "3");
  CHECK(said(*w.daemon) == "6: 0.25, 7: 0.25, 8: 0.5");
}

TEST_CASE("when exhausted: a value that was assumed of a stopped trial is no result") {
  ScriptedTuner* tuner = nullptr;
  auto owned = std::make_unique<ScriptedTuner>();
  tuner = owned.get();
  const auto repeating = make_repeating(std::move(owned));
  REQUIRE(repeating->set_space(parse_space(parse_json(kSpace).value()).value()).has_value());
  const auto ask = [&](TrialId id) {
    return std::get<Proposal>(repeating->ask(std::span(&id, 1))[0]).point;
  };
  const Point stopped = ask(0);
  tuner->next = 0.25;
  const Point completed = ask(1);
  repeating->tell(std::vector{Outcome{.trial = 0, .point = stopped, .loss = 1, .end = End::stopped},
                              Outcome{.trial = 1, .point = completed, .loss = 2}});
  tuner->proposals = 0;
  CHECK(ask(2) == completed);
  CHECK(ask(3) == completed);
}

TEST_CASE("when exhausted: without a result it waits for one") {
  World w;
  w.daemon->send("GE", "1");
  CHECK(said(*w.daemon).empty());
  w.daemon->send("EN", trial_end(0, "FAILED"));
  w.daemon->send("ME", final_metric(1, "1"));
  CHECK(said(*w.daemon) == "3: 0.5");
}

TEST_CASE("when exhausted: nothing that ever succeeded is the end") {
  World w;
  for (int id = 0; id < 3; ++id) w.daemon->send("EN", trial_end(id, "FAILED"));
  w.daemon->send("GE", "1");
  CHECK(said(*w.daemon) == "NO");
}

TEST_CASE("when exhausted: saved and loaded anywhere it goes on as it would have") {
  World w;
  w.finish(0, "3");
  w.finish(1, "1");
  w.finish(2, "2");
  w.daemon->send("GE", "2");
  CHECK(said(*w.daemon) == "3: 0.5, 4: 0.75");
  const json state = parse_json(dump_json(w.daemon->save())).value();
  World loaded;
  loaded.daemon = World::start(loaded.tuner);
  REQUIRE(loaded.daemon->load(state));
  loaded.tuner->proposals = 0;
  for (World* world : {&w, &loaded}) {
    world->finish(3, "8");
    world->daemon->send("GE", "3");
    CHECK(said(*world->daemon) == "5: 0.25, 6: 0.75, 7: 0.25");
  }
  for (const char* where : {"losses", "counts", "points", "round", "running"}) {
    CAPTURE(where);
    json damaged = state;
    damaged["tuner"]["session"]["tuner"][where] =
        where == std::string("running") ? json({"a"}) : json("AAAAAAAAIkA=");
    ScriptedTuner* tuner = nullptr;
    CHECK_FALSE(World::start(tuner)->load(damaged));
  }
}

TEST_CASE("when exhausted: another space begins anew") {
  World w;
  w.finish(0, "3");
  w.finish(1, "1");
  w.finish(2, "2");
  w.daemon->send("SS", R"({"x":{"_type":"uniform","_value":[0,0.6]}})");
  w.daemon->send("GE", "2");
  CHECK(said(*w.daemon) == "3: 0.5, 4: 0.25");
}

TEST_CASE("when exhausted: the tuners of NNI that repeat reach any number of trials") {
  const std::string tuner = GENERATE("Evolution", "GP", "Anneal", "SMAC");
  CAPTURE(tuner);
  auto made = make_tuner(builtin_tuners(), tuner, {{"seed", 3}}, {}, 1).value();
  Stepped daemon(make_repeating(std::move(made.tuner)), false, nullptr);
  daemon.send("IN", R"({"x":{"_type":"choice","_value":[1,2,3,4,5]}})");
  for (int id = 0; id < 20; ++id) {
    daemon.send("GE", "1");
    const auto frames = daemon.take();
    REQUIRE(frames.back().code == "TR");
    daemon.send("ME", final_metric(id, std::to_string(id * 7 % 5)));
    daemon.send("EN", trial_end(id));
  }
}

TEST_CASE("when exhausted: what a tuner says of reports and budgets is asked of the tuner itself") {
  struct Judging : ScriptedTuner {
    bool wants_reports() const override { return true; }
    bool pauses_at_budget() const override { return true; }
  };
  const auto judging = make_repeating(std::make_unique<Judging>());
  CHECK(judging->wants_reports());
  CHECK(judging->pauses_at_budget());
  auto scripted = std::make_unique<ScriptedTuner>();
  const ScriptedTuner& asked = *scripted;
  const auto other = make_repeating(std::move(scripted));
  other->on_checkpoint(3, true);
  CHECK(asked.checkpoints == std::vector<std::string>{"3 saved"});
  CHECK_FALSE(other->wants_reports());
  CHECK_FALSE(other->pauses_at_budget());
}

}  // namespace attune::repeating_tuner_test
