// The portfolio that learns. What holds for every tuner is in conformance_test.cpp.
#include <cmath>

#include "tests/tuners/tuner_world.h"

namespace attune::ensemble_test {

const std::string kReals = R"({"x": {"_type": "uniform", "_value": [-1, 1]},
                               "y": {"_type": "uniform", "_value": [-1, 1]}})";

std::string refusal(const json& arguments) {
  auto made = make_tuner(builtin_tuners(), "ensemble", arguments, {}, 1);
  return made ? "" : made.error().message;
}

// How many of the next proposals moved the generator of each member.
std::vector<int> turns(TunerWorld& world, int count, const std::vector<std::string>& names,
                       double (*loss)(const std::vector<double>&)) {
  std::vector<int> result(names.size());
  for (int i = 0; i < count; ++i) {
    const json before = world.tuner->save()["members"];
    const auto values = world.values();
    const json after = world.tuner->save()["members"];
    for (std::size_t k = 0; k < names.size(); ++k) {
      result[k] += after[names[k]]["rng"] != before[names[k]]["rng"] ? 1 : 0;
    }
    world.completed(world.next - 1, values, loss(values));
  }
  return result;
}

TEST_CASE("ensemble: the member that improves proposes more and the other is not forgotten") {
  TunerWorld world("ensemble", kReals, {{"members", "Random,GP"}, {"window", 30}});
  const auto bowl = [](const std::vector<double>& p) {
    return std::pow(p[0] - 0.3, 2) + std::pow(p[1] + 0.2, 2);
  };
  const auto of = turns(world, 60, {"Random", "GP"}, bowl);
  CHECK(of[0] + of[1] == 60);
  CHECK(of[1] > of[0]);
  CHECK(of[0] >= 5);
}

TEST_CASE("ensemble: where nothing improves all propose alike") {
  TunerWorld world("ensemble", kReals, {{"members", "Random, Anneal,TPE"}});
  const auto flat = [](const std::vector<double>&) { return 1.0; };
  for (const int each : turns(world, 60, {"Random", "Anneal", "TPE"}, flat)) {
    CHECK((each >= 15 && each <= 25));
  }
}

TEST_CASE("ensemble: a batch is shared") {
  TunerWorld world("ensemble", kReals, {{"members", "Random,Anneal"}});
  const json before = world.tuner->save()["members"];
  REQUIRE(world.tuner->ask(std::vector<TrialId>{1, 2}).size() == 2);
  const json after = world.tuner->save()["members"];
  CHECK(after["Random"]["rng"] != before["Random"]["rng"]);
  CHECK(after["Anneal"]["rng"] != before["Anneal"]["rng"]);
}

TEST_CASE("ensemble: members are checked") {
  CHECK(refusal({}).empty());
  CHECK(refusal({{"members", "GP"}}).empty());
  CHECK(refusal({{"members", "gp , smac"}}).empty());
  CHECK_THAT(refusal({{"window", 2}}), Catch::StartsWith("ensemble.window: at least one result"));
  for (const auto& [members, message] : std::vector<std::pair<std::string, std::string>>{
           {"GP,TPEE", "ensemble.members: unknown tuner"},
           {"GP,TPEE", "did you mean \"TPE\""},
           {"", "unknown tuner \"\""},
           {"GP,,TPE", "unknown tuner \"\""},
           {"GP,TPE,GP", "GP is there twice"},
           {"GP,Batch", "Batch cannot share an experiment"},
           {"ensemble", "ensemble cannot share an experiment"},
           {"auto,GP", "auto cannot share an experiment"}}) {
    CAPTURE(members);
    CHECK_THAT(refusal({{"members", members}}), Catch::Contains(message));
  }
}

TEST_CASE("ensemble: a member that declines the space is named, whoever came before it") {
  const Space reals = parse_space(parse_json(kReals).value()).value();
  for (const char* first :
       {"Random", "Evolution", "CMA-ES", "GP", "TPE", "SMAC", "NSGAII", "QMC"}) {
    CAPTURE(first);
    auto made =
        make_tuner(builtin_tuners(), "ensemble", {{"members", std::string(first) + ",PPO"}}, {}, 1);
    REQUIRE(made);
    const auto set = made->tuner->set_space(reals);
    REQUIRE_FALSE(set);
    CHECK_THAT(set.error().message, Catch::StartsWith("PPO: "));
  }
}

TEST_CASE("ensemble: results that break a limit are no improvement on one that keeps it") {
  TunerWorld world("ensemble", kReals, {{"members", "Random,Anneal"}}, 1,
                   {{"loss", false}, {"size", false, 1.0}});
  const auto tell = [&](double loss, double size) {
    world.completed(world.next - 1, world.values(), Metrics{{"loss", loss}, {"size", size}});
    return world.tuner->save()["tries"].back()[1].get<int>();
  };
  CHECK(tell(-100, 3) == 1);  // nothing better is known
  CHECK(tell(-200, 4) == 0);
  CHECK(tell(5, 1) == 1);
  CHECK(tell(-300, 2) == 0);
  CHECK(tell(4, 0.5) == 1);
}

TEST_CASE("ensemble: damaged states are declined and change nothing") {
  TunerWorld world("ensemble", kReals, {{"members", "Random,TPE"}, {"window", 2}});
  for (int i = 0; i < 3; ++i) world.completed(world.next - 1, world.values(), 3 - i);
  world.values();
  const json good = world.tuner->save();
  REQUIRE(world.tuner->load(good));
  for (const auto& [key, value] : std::vector<std::pair<std::string, json>>{
           {"owners", {{3, 2}}},
           {"owners", {{3, -1}}},
           {"owners", {3}},
           {"owners", {{3, 0.5}}},
           {"tries", {{0, 2}}},
           {"tries", {{2, 0}}},
           {"tries", {{0, 0}, {0, 0}, {0, 0}}},
           {"tries", 1},
           {"best", 4},
           {"best", "AAAAAAAA8H8="},
           {"best", "AAAAAAAAAAAAAAAAAADwfw=="},
           {"members", {{"Random", good["members"]["Random"]}}},
           {"members", {{"Random", good["members"]["Random"]}, {"TPE", {{"rng", 3}}}}}}) {
    json state = good;
    state[key] = value;
    CAPTURE(key, dump_json(value));
    CHECK_FALSE(world.tuner->load(state));
    CHECK(dump_json(world.tuner->save()) == dump_json(good));
  }
}

}  // namespace attune::ensemble_test
