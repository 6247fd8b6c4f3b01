#include "plugins/guarded_tuner.h"

#include <catch2/catch.hpp>
#include <limits>

#include "base/algorithm_failure.h"
#include "space/parse.h"
#include "tests/plugins/fake_plugin.h"
#include "tests/support/through_text.h"

namespace attune::guarded_tuner_test {

using Words = std::vector<std::string>;
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

Space space() {
  return parse_space(json::parse(R"({"x": {"_type": "uniform", "_value": [0, 1]}})")).value();
}

struct Guarded {
  explicit Guarded(bool saves = true, bool wants_reports = false)
      : tuner(make_guarded(std::make_unique<FakeTuner>(world),
                           {.name = "Fake", .wants_reports = wants_reports, .saves = saves},
                           "fake.so", Log())) {
    REQUIRE(tuner->set_space(space()));
    world->heard.clear();
  }

  double ask(TrialId id) {
    const auto answers = tuner->ask(std::span(&id, 1));
    return std::get<Proposal>(answers.at(0)).point.values.at(0);
  }
  void tell(TrialId id, double loss) {
    const Outcome outcome{.trial = id, .point = {{0.5}}, .loss = loss};
    tuner->tell(std::span(&outcome, 1));
  }
  Words heard() { return std::exchange(world->heard, {}); }

  std::shared_ptr<FakeTunerWorld> world = std::make_shared<FakeTunerWorld>();
  std::unique_ptr<Tuner> tuner;
};

Answer proposal(double x) { return Proposal{.point = {{x}}}; }

std::string failure_of(const std::function<void()>& call) {
  try {
    call();
  } catch (const AlgorithmFailure& failure) {
    return failure.what();
  }
  return "";
}

TEST_CASE("guarded tuner: what it answers passes") {
  Guarded guarded;
  CHECK(guarded.ask(1) == 0.5);
  guarded.tell(1, 2);
  CHECK(guarded.heard() == Words{"ask 1", "tell 1"});
}

TEST_CASE("guarded tuner: it is not asked for nothing") {
  Guarded guarded;
  CHECK(guarded.tuner->ask({}).empty());
  CHECK(guarded.heard().empty());
}

TEST_CASE("guarded tuner: an answer that cannot be used is an error that names plug-in and call") {
  Proposal infinite{.point = {{0.5}}, .budget = std::numeric_limits<double>::infinity()};
  Proposal stranger{.point = {{0.5}}, .resume = 77};
  Proposal copy{.point = {{0.5}}, .checkpoint_from = 77};
  Proposal talks{.point = {{0.5}}, .reason = std::string(1'000'000, 'x')};
  Proposal garbles{.point = {{0.5}}, .reason = "\xff"};
  const std::vector<std::pair<std::vector<Answer>, std::string>> lies = {
      {{}, "0 answers to 1 ids"},
      {{proposal(0.5), proposal(0.5)}, "2 answers to 1 ids"},
      {{proposal(2)}, "answer 1 of 1"},
      {{proposal(kNan)}, "answer 1 of 1"},
      {{Proposal{.point = {{0.5, 0.5}}}}, "answer 1 of 1"},
      {{Proposal{}}, "answer 1 of 1"},
      {{infinite}, "budget"},
      {{stranger}, "trial 77, which does not run"},
      {{copy}, "trial 77, which is unknown"},
      {{talks}, "1000000 bytes"},
      {{garbles}, "not UTF-8"},
  };
  for (const auto& [lie, what] : lies) {
    CAPTURE(what);
    Guarded guarded;
    guarded.world->lies = {lie, lie};
    const std::string failure = failure_of([&] { guarded.ask(1); });
    CHECK_THAT(failure, Catch::StartsWith("plug-in fake.so: tuner Fake: ask: "));
    CHECK_THAT(failure, Catch::Contains(what));
    CHECK_THAT(failure, !Catch::Contains("xxx"));
  }
}

TEST_CASE("guarded tuner: after one bad answer it is started anew, and asked again") {
  Guarded guarded;
  guarded.ask(1);
  guarded.tell(1, 2);
  guarded.ask(2);
  guarded.heard();
  guarded.world->lies = {{proposal(2)}};
  CHECK(guarded.ask(3) == 0.5);
  CHECK(guarded.heard() == Words{"ask 3", "restart", "space", "adopt 1 0.5", "tell 1",
                                 "adopt 2 0.5", "skip_ahead", "ask 3"});
}

TEST_CASE("guarded tuner: it is told only what has happened since its saved state") {
  Guarded guarded;
  guarded.ask(1);
  const json state = guarded.tuner->save();
  CHECK(state["plugin"] == 1);
  guarded.tell(1, 2);
  guarded.heard();
  guarded.world->failures["ask"] = 1;
  guarded.ask(2);
  CHECK(guarded.heard() ==
        Words{"ask 2", "restart", "space", "load 1", "tell 1", "skip_ahead", "ask 2"});
}

TEST_CASE("guarded tuner: a failure at any call is repaired once") {
  for (const std::string call : {"ask", "tell", "adopt", "withdraw", "report", "skip_ahead"}) {
    CAPTURE(call);
    for (const int times : {1, 2}) {
      Guarded guarded(true, true);
      guarded.world->failures[call] = 0;
      guarded.ask(1);
      const auto all = [&] {
        guarded.world->failures[call] = times;
        guarded.ask(2);
        guarded.tell(1, 0.5);
        guarded.tuner->adopt(3, {{0.25}});
        guarded.tuner->withdraw(2);
        guarded.tuner->on_report({.trial = 3, .step = 0, .metrics = {}});
        guarded.tuner->skip_ahead();
      };
      const std::string failure = failure_of(all);
      CHECK(failure.empty() == (times == 1));
    }
  }
}

TEST_CASE("guarded tuner: a state that cannot be saved leaves the former one") {
  Guarded guarded;
  guarded.ask(1);
  const json first = guarded.tuner->save();
  guarded.ask(2);
  guarded.world->failures["save"] = 1;
  const json second = guarded.tuner->save();
  CHECK(second["plugin"] == first["plugin"]);
  CHECK(second["events"] != first["events"]);
  guarded.world->failures["restart"] = 1;
  guarded.world->failures["save"] = 1;
  CHECK_THAT(failure_of([&] { guarded.tuner->save(); }), Catch::Contains("save"));
}

TEST_CASE("guarded tuner: one that can never save is not started anew at each event") {
  Guarded guarded;
  guarded.world->failures["save"] = 1'000'000;
  for (TrialId id = 0; id < 20'100; ++id) guarded.tell(id, 1);
  CHECK(std::ranges::count(guarded.heard(), "restart") == 1);
}

TEST_CASE("guarded tuner: decisions only on trials that run") {
  Guarded guarded(true, true);
  guarded.ask(1);
  const Report report{.trial = 1, .step = 0, .metrics = {{"default", 1}}};
  guarded.world->decisions = {{.trial = 1, .action = Action::stop, .reason = "slow"}};
  CHECK(guarded.tuner->on_report(report).size() == 1);
  guarded.world->decisions = {{.trial = 5, .action = Action::stop}};
  // It says nothing when it is asked again.
  CHECK(guarded.tuner->on_report(report).empty());
  guarded.tell(1, 3);
  guarded.heard();
  guarded.world->decisions = {{.trial = 1, .action = Action::stop}};
  CHECK(guarded.tuner->on_report(report).empty());
  CHECK(guarded.heard().size() > 2);
}

TEST_CASE("guarded tuner: a search space that it refuses leaves the former one") {
  Guarded guarded;
  guarded.ask(1);
  guarded.heard();
  guarded.world->failures["space"] = 1;
  const auto set = guarded.tuner->set_space(space());
  REQUIRE_FALSE(set);
  CHECK(guarded.heard() == Words{"space", "restart", "space", "adopt 1 0.5", "skip_ahead"});
  CHECK(guarded.ask(2) == 0.5);
}

TEST_CASE("guarded tuner: its answers are noted, and a replay repeats them") {
  for (const bool saves : {true, false}) {
    CAPTURE(saves);
    Guarded first(saves), second(saves);
    first.world->drifts = second.world->drifts = true;
    second.world->asked = 100;
    std::vector<std::string> notes;
    std::vector<double> values;
    for (TrialId id = 0; id < 5; ++id) {
      values.push_back(first.ask(id));
      first.tell(id, 1);
      notes.push_back(first.tuner->take_notes());
      CHECK_FALSE(notes.back().empty());
    }
    CHECK(first.tuner->take_notes().empty());
    for (TrialId id = 0; id < 5; ++id) {
      second.tuner->replay_notes(notes[static_cast<std::size_t>(id)]);
      CHECK(second.ask(id) == values[static_cast<std::size_t>(id)]);
      second.tell(id, 1);
      CHECK(second.tuner->take_notes() == notes[static_cast<std::size_t>(id)]);
      second.tuner->end_replay();
    }
    const Words heard = second.heard();
    const std::string adopted = fmt::format("adopt 4 {}", values[4]);
    CHECK(std::ranges::count(heard, adopted) == 1);
    CHECK(std::ranges::count(heard, "withdraw 4") == (saves ? 1 : 0));
    second.ask(5);
    const Words later = second.heard();
    // One that cannot save might propose the same again.
    CHECK(std::ranges::count(later, "skip_ahead") == (saves ? 0 : 1));
  }
}

TEST_CASE("guarded tuner: in a replay, a call without notes was not answered") {
  Guarded guarded;
  guarded.tuner->replay_notes("");
  const TrialId id = 1;
  CHECK(std::holds_alternative<NotYet>(guarded.tuner->ask(std::span(&id, 1)).at(0)));
  guarded.tuner->end_replay();
  CHECK(guarded.heard() == Words{"ask 1", "withdraw 1"});
}

TEST_CASE("guarded tuner: in a replay a search space is refused as it was") {
  Guarded first, second;
  first.world->failures["space"] = 1;
  const auto refused = first.tuner->set_space(space());
  REQUIRE_FALSE(refused);
  const std::string notes = first.tuner->take_notes();
  second.tuner->replay_notes(notes);
  const auto again = second.tuner->set_space(space());
  REQUIRE_FALSE(again);
  CHECK(again.error().message == refused.error().message);
  CHECK(second.tuner->take_notes() == notes);
  second.tuner->end_replay();
}

TEST_CASE("guarded tuner: in a replay, what it accepted before is tried twice, and no error") {
  for (const std::string call : {"space", "load"}) {
    CAPTURE(call);
    for (const int times : {1, 2}) {
      Guarded first, second;
      first.ask(1);
      const json state = first.tuner->save();
      second.world->failures[call] = times;
      second.tuner->replay_notes("");
      bool done = false;
      const std::string failure = failure_of([&] {
        done = second.tuner->set_space(space()).has_value() && second.tuner->load(state);
      });
      CHECK(failure.empty() == (times == 1));
      CHECK(done == failure.empty());
      second.tuner->end_replay();
    }
  }
}

TEST_CASE("guarded tuner: all answers come back from notes as they were") {
  Guarded first(true, true), second(true, true);
  first.ask(1);
  first.tuner->take_notes();
  second.ask(1);
  second.tuner->take_notes();
  const std::vector<TrialId> ids = {2, 3, 4, 5};
  const Proposal rich{.point = {{0.1}}, .budget = 3, .checkpoint_from = 1, .reason = "so \"é\"\n"};
  first.world->lies = {{rich, Exhausted{}, NotYet{}, Proposal{.point = {{0.0}}, .resume = 1}}};
  const auto answers = first.tuner->ask(ids);
  const std::string notes = first.tuner->take_notes();
  second.tuner->replay_notes(notes);
  const auto again = second.tuner->ask(ids);
  const auto& one = std::get<Proposal>(again[0]);
  CHECK(one.point == rich.point);
  CHECK(one.budget == rich.budget);
  CHECK(one.checkpoint_from == rich.checkpoint_from);
  CHECK(one.reason == rich.reason);
  CHECK(std::holds_alternative<Exhausted>(again[1]));
  CHECK(std::holds_alternative<NotYet>(again[2]));
  CHECK(std::get<Proposal>(again[3]).resume == 1);
  CHECK(second.tuner->take_notes() == notes);
}

TEST_CASE("guarded tuner: a saved state is exact, and takes nothing odd") {
  for (const bool saves : {true, false}) {
    CAPTURE(saves);
    Guarded first(saves, true);
    first.ask(1);
    first.tell(1, 0.25);
    first.ask(2);
    first.tuner->on_report({.trial = 2, .step = 3, .metrics = {{"default", kNan}, {"t", 1}}});
    first.tuner->withdraw(2);
    const json state = through_text(first.tuner->save());
    Guarded second(saves, true);
    REQUIRE(second.tuner->load(state));
    CHECK(second.tuner->save() == state);
    for (const auto& [key, value] : state.items()) {
      json bad = state;
      bad[key] = "odd";
      Guarded third(saves, true);
      const auto loaded = third.tuner->load(bad);
      if (key != "plugin") CHECK_FALSE(loaded);
      CHECK(third.ask(1) == 0.5);
    }
  }
}

}  // namespace attune::guarded_tuner_test
