#include <catch2/catch.hpp>

#include "tests/tuners/promotion_world.h"

namespace attune {
extern const TunerEntry pasha_entry;
}

namespace attune::pasha_tuner_test {

TEST_CASE("PASHA promotes, pauses and stops as Syne Tune did in its recordings") {
  for (const auto& path : traces("syne_pasha_")) {
    const json trace = read_trace(path);
    for (const int restart_every : {100'000, 89}) {
      CAPTURE(path, restart_every);
      PromotionWorld world(pasha_entry, recorded_arguments(trace), recorded_objectives(trace));
      int results = 0;
      // The numbers after every result are compared in tests/rungs/pasha_test.cpp.
      const int compared = replay_promotions(world, trace, restart_every, [&](const json& event) {
        if (++results % 50 != 0) return;
        const json pasha = world.tuner->save()["pasha"];
        CHECK(pasha["top"].get<int>() + 1 == event[5]["rung_idx"]);
        CHECK(pasha["is_last"] == (event[5]["current_max_t"] == trace["T"]));
      });
      CHECK(compared == std::ssize(trace["events"]));
    }
  }
}

// Rungs at 1, 3 and 9. Trials have the losses of their ids, in which they agree at all rungs.
PromotionWorld agreeing(int trials) {
  PromotionWorld world(pasha_entry, {{"max_t", 27}, {"resource_attr", "epoch"}}, {{"loss", false}});
  for (TrialId trial = 0; trial < trials; ++trial) CHECK(world.ask(trial) == "new to 1");
  for (TrialId trial = 0; trial < trials; ++trial) {
    CHECK(world.report(trial, 1, double(trial)) == "pause");
  }
  return world;
}

TEST_CASE("PASHA: while the rungs agree, nobody goes beyond the second") {
  PromotionWorld world = agreeing(9);
  for (TrialId trial = 0; trial < 3; ++trial) {
    CHECK(world.ask(100 + trial) == "trial " + std::to_string(trial) + " to 3");
  }
  for (TrialId trial = 0; trial < 3; ++trial) {
    CHECK(world.report(trial, 3, double(trial)) == "pause");
  }
  CHECK(world.reason() == "rung 3: 2 ranks 3 of 3 and waits; no trial goes beyond 3 yet");
  world.restart();
  CHECK(world.ask(200) == "new to 1");
}

TEST_CASE("PASHA: once they differ, the best go one rung higher") {
  PromotionWorld world = agreeing(9);
  for (TrialId trial = 0; trial < 3; ++trial) world.ask(100 + trial);
  world.report(0, 3, 0.5);
  world.report(1, 3, 0.25);
  CHECK(world.ask(200) == "trial 1 to 9");
  world.restart();
  SECTION("but not yet two") {
    CHECK(world.report(1, 9, 0) == "pause");
    CHECK(world.ask(201) == "new to 1");
  }
  SECTION("and in the end to max_t") {
    CHECK(world.report(2, 3, 0.375) == "pause");
    CHECK(world.report(1, 9, 0.5) == "pause");
    for (TrialId trial = 20; trial < 26; ++trial) world.ask(trial);
    for (TrialId trial = 20; trial < 26; ++trial) world.report(trial, 1, 1.5);
    for (TrialId trial = 20; trial < 24; ++trial) {
      CHECK(world.ask(1000 + trial) == "trial " + std::to_string(trial) + " to 3");
    }
    world.report(20, 3, 0.3);
    CHECK(world.ask(300) == "trial 20 to 9");
    CHECK(world.report(20, 9, 0.125) == "pause");  // 20 was worse than 1 at rung 3
    CHECK(world.ask(301) == "trial 20 to 27");
    CHECK(world.report(20, 27, 0) == "complete");
  }
}

TEST_CASE("PASHA: final results take part in the ranking") {
  PromotionWorld world = agreeing(9);
  for (TrialId trial = 0; trial < 3; ++trial) world.ask(100 + trial);
  world.tell(0, End::completed, 0.5, 3.0);
  world.tell(1, End::completed, 0.25, 3.0);
  CHECK(world.ask(200) == "new to 9 from 1");
}

TEST_CASE("PASHA: in a finite space the search ends below the limit, but for the best") {
  PromotionWorld world(pasha_entry, {{"max_t", 27}, {"resource_attr", "epoch"}}, {{"loss", false}},
                       R"({"x": {"_type": "choice", "_value": [1, 2]}})");
  for (TrialId trial = 0; trial < 2; ++trial) world.ask(trial);
  CHECK(world.report(0, 1, 0) == "pause");
  CHECK(world.report(1, 1, 1) == "pause");
  CHECK(world.ask(2) == "trial 0 to 3");
  CHECK(world.ask(3) == "not yet");
  CHECK(world.report(0, 3, 0) == "pause");
  CHECK(world.ask(4) == "trial 0 to 27");
  CHECK(world.report(0, 9, 0) == "-");
  CHECK(world.report(0, 27, 0) == "complete");
  world.tell(0, End::completed, 0.0);
  CHECK(world.ask(5) == "exhausted");
}

TEST_CASE("PASHA: with one rung it is ASHA") {
  PromotionWorld world(pasha_entry, {{"max_t", 2}, {"resource_attr", "epoch"}}, {{"loss", false}});
  for (TrialId trial = 0; trial < 2; ++trial) world.ask(trial);
  world.report(0, 1, 0);
  world.report(1, 1, 1);
  CHECK(world.ask(2) == "trial 0 to 2");
  world.restart();
  CHECK(world.report(0, 2, 0) == "complete");
}

TEST_CASE("PASHA: damaged states are errors and change nothing") {
  PromotionWorld world = agreeing(9);
  const json good = world.tuner->save();
  for (const json& wrong : {json(), json("x"), json(1), json::array({"x"}), json::object()}) {
    json state = good;
    state["pasha"] = wrong;
    CHECK_FALSE(world.tuner->load(state));
  }
  json state = good;
  state.erase("pasha");
  CHECK_FALSE(world.tuner->load(state));
  CHECK(dump_json(world.tuner->save()) == dump_json(good));
  CHECK(world.tuner->load(good));
}

}  // namespace attune::pasha_tuner_test
