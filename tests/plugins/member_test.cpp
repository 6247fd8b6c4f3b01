// Tuners of plug-ins as members of built-in ones.
#include <catch2/catch.hpp>

#include "base/algorithm_failure.h"
#include "plugins/guarded_tuner.h"
#include "space/parse.h"
#include "tests/plugins/fake_plugin.h"
#include "tuners/parts/searcher.h"
#include "tuners/registry.h"

namespace attune::member_test {

using Catch::Contains;

struct World {
  explicit World(const PluginDescription& which) {
    tuners.add(
        {.name = which.name,
         .aliases = {},
         .summary = "",
         .arguments = {},
         .wants_reports = which.wants_reports,
         .make = [=, this](const json&, const Context&, Rng) -> Result<std::unique_ptr<Tuner>> {
           return make_guarded(std::make_unique<FakeTuner>(fake), which, "fake.so", Log());
         }});
  }

  // With the plug-in "Fake" as a member.
  Result<MadeTuner> make(const std::string& tuner) const {
    const json arguments =
        tuner == "ensemble" ? json{{"members", "Fake,TPE"}} : json{{"searcher", "Fake"}};
    return make_tuner(tuners, tuner, arguments, {}, 1);
  }

  std::shared_ptr<FakeTunerWorld> fake = std::make_shared<FakeTunerWorld>();
  TunerRegistry tuners = builtin_tuners();
};

const char* const kRules[] = {"ensemble", "ASHA", "Hyperband", "HyperBandScheduler", "DEHB"};

Space unit_interval() {
  const json space = {{"x", {{"_type", "uniform"}, {"_value", {0, 1}}}}};
  return parse_space(space).value();
}

TEST_CASE("a plug-in as a member: it proposes") {
  for (const std::string rule : kRules) {
    CAPTURE(rule);
    const World world({.name = "Fake"});
    const auto made = world.make(rule);
    if (!made) FAIL(made.error().message);
    REQUIRE(made->tuner->set_space(unit_interval()));
    const TrialId id = 0;
    const Answer answer = made->tuner->ask(std::span(&id, 1)).front();
    CHECK(std::get<Proposal>(answer).point.values == std::vector{0.5});
    CHECK_FALSE(made->tuner->take_notes().empty());
  }
}

TEST_CASE("a plug-in as a member: one that decides on reports or writes parameters is refused") {
  for (const std::string rule : kRules) {
    CAPTURE(rule);
    for (const auto& which : {PluginDescription{.name = "Fake", .wants_reports = true},
                              PluginDescription{.name = "Fake", .any_parameters = true}}) {
      const auto made = World(which).make(rule);
      REQUIRE_FALSE(made);
      CHECK_THAT(made.error().message, Contains(rule + ".") && Contains("Fake"));
    }
  }
}

TEST_CASE("a plug-in as a member: it cannot let another trial go on") {
  for (const std::string rule : kRules) {
    CAPTURE(rule);
    const World world({.name = "Fake"});
    const auto made = world.make(rule).value();
    REQUIRE(made.tuner->set_space(unit_interval()));
    const auto ask = [&](TrialId id) { made.tuner->ask(std::span(&id, 1)); };
    ask(0);
    world.fake->lies = {{Proposal{.point = {.values = {0.5}}, .resume = 0}}};
    CHECK_THROWS_AS(
        [&] {
          for (TrialId id = 1; id < 9; ++id) ask(id);
        }(),
        AlgorithmFailure);
  }
}

TEST_CASE("a plug-in as a searcher: one that refuses a space that it had is a failure") {
  const auto fake = std::make_shared<FakeTunerWorld>();
  Searcher searcher(
      make_guarded(std::make_unique<FakeTuner>(fake), {.name = "Fake"}, "fake.so", Log()), true,
      {});
  REQUIRE(searcher.set_space(unit_interval()));
  for (const TrialId id : {0, 1}) {
    searcher.ask(id);
    searcher.observe(id, 1, 0.5);
  }
  searcher.observe(0, 3, 0.5);
  fake->failures["space"] = 1;
  // Now it is to learn the results at 3.
  CHECK_THROWS_AS(searcher.observe(1, 3, 0.25), AlgorithmFailure);
}

}  // namespace attune::member_test
