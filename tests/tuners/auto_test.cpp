// The default tuner. What holds for every tuner is in conformance_test.cpp.
#include <cmath>
#include <numbers>

#include "tests/tuners/tuner_world.h"

namespace attune::auto_test {

const std::string kReals = R"({"x": {"_type": "uniform", "_value": [-5, 10]},
                               "y": {"_type": "uniform", "_value": [0, 15]}})";

const std::string kBranches = R"({"model": {"_type": "choice", "_value": [
    {"_name": "a", "x": {"_type": "uniform", "_value": [0, 1]}},
    {"_name": "b", "y": {"_type": "uniform", "_value": [0, 1]}}]}})";

double branin(const std::vector<double>& p) {
  const double a = p[1] - 5.1 / (4 * std::numbers::pi * std::numbers::pi) * p[0] * p[0] +
                   5 / std::numbers::pi * p[0] - 6;
  return a * a + 10 * (1 - 1 / (8 * std::numbers::pi)) * std::cos(p[0]) + 10;
}

double best_of(const std::string& tuner, std::uint64_t seed, int trials) {
  TunerWorld world(tuner, kReals, {}, seed);
  double best = INFINITY;
  for (int i = 0; i < trials; ++i) {
    const auto values = world.values();
    const double loss = branin(values);
    world.completed(world.next - 1, values, loss);
    best = std::min(best, loss);
  }
  return best;
}

TEST_CASE("auto: close to the minimum of Branin's function in forty trials") {
  for (const std::uint64_t seed : {1u, 2u, 3u}) {
    CHECK(best_of("auto", seed, 40) < 0.45);  // 0.3979 is the minimum
    CHECK(best_of("Random", seed, 40) > 0.45);
  }
}

// Which members' generators a proposal moves. The trial ends at once, or goes on running.
std::string movers(TunerWorld& world, bool ends = true) {
  const json before = world.tuner->save()["members"];
  const std::vector<double> values = world.values();
  const json after = world.tuner->save()["members"];
  std::string moved;
  for (const auto& [name, state] : after.items()) {
    if (state["rng"] != before[name]["rng"]) moved += name + " ";
  }
  double loss = 1;  // and more: not over decades
  for (const double x : values) loss += std::isnan(x) ? 0 : std::abs(x);
  if (ends) world.completed(world.next - 1, values, loss);
  return moved;
}

TEST_CASE("auto: the local search begins and then all take turns") {
  TunerWorld world("auto", kReals);
  for (int i = 0; i < 10; ++i) {
    CHECK(movers(world) == "TuRBO ");
  }
  CHECK(world.tuner->save()["turns"]["proposed"] == 10);
  std::string turns;
  for (int i = 10; i < 22; ++i) turns += movers(world).substr(0, 1);
  CHECK(turns == "TTTGTGTTTGTG");  // T: TuRBO, or TPE in the second and the eighth place
}

// A search that has made `count` proposals, or so its state says.
void pretend_proposed(TunerWorld& world, int count) {
  json state = world.tuner->save();
  state["turns"]["proposed"] = count;
  REQUIRE(world.tuner->load(state));
}

TEST_CASE("auto: after three hundred proposals the evolution strategy has most turns") {
  TunerWorld world("auto", kReals);
  for (int i = 0; i < 20; ++i) movers(world);
  pretend_proposed(world, 298);
  CHECK(movers(world) == "TuRBO ");
  CHECK(movers(world) == "TPE ");
  std::string turns;
  for (int i = 0; i < 6; ++i) turns += movers(world).substr(0, 1);
  CHECK(turns == "CCCCCT");
  for (int i = 0; i < 3; ++i) movers(world, false);  // also while many run
  turns.clear();
  for (int i = 0; i < 3; ++i) turns += movers(world).substr(0, 1);
  CHECK(turns == "CCT");
}

TEST_CASE("auto: in a space of branches the evolution strategy has no turns") {
  TunerWorld world("auto", kBranches);
  for (int i = 0; i < 20; ++i) movers(world);
  pretend_proposed(world, 300);
  std::string turns;
  for (int i = 0; i < 6; ++i) turns += movers(world).substr(0, 2);
  CHECK(turns == "TuGPTuGPTuTP");
}

TEST_CASE("auto: a state of a version without the evolution strategy is loaded") {
  TunerWorld world("auto", kReals);
  for (int i = 0; i < 12; ++i) movers(world);
  json state = world.tuner->save();
  state["members"].erase("CMA-ES");
  TunerWorld other("auto", kReals);
  REQUIRE(other.tuner->load(state));
  CHECK(other.values() == world.values());
  pretend_proposed(other, 301);
  CHECK(movers(other) == "CMA-ES ");
}

// Who proposes after twelve trials with a loss of 1 and one with `lowest`.
std::string movers_after(double lowest, const std::string& space = kReals) {
  TunerWorld world("auto", space);
  for (int i = 0; i < 13; ++i) {
    const auto values = world.values();
    world.completed(world.next - 1, values, i == 12 ? lowest : 1);
  }
  std::string all;
  for (int i = 0; i < 6; ++i) all += movers(world, false);
  return all;
}

TEST_CASE("auto: while losses fall over decades the local search proposes alone") {
  const std::string alone = "TuRBO TuRBO TuRBO TuRBO TuRBO TuRBO ";
  CHECK(movers_after(0.0099) == alone);
  CHECK(movers_after(0.0101) != alone);
  CHECK(movers_after(0) != alone);  // zero and less have no decades
  CHECK(movers_after(-1) != alone);
  CHECK(movers_after(0.0099, kBranches) != alone);
}

TEST_CASE("auto: a state of a version that looked at no losses is loaded") {
  TunerWorld world("auto", kReals);
  for (int i = 0; i < 4; ++i) movers(world);
  json former = world.tuner->save();
  former["proposed"] = former["turns"]["proposed"];
  former.erase("turns");
  REQUIRE(world.tuner->load(former));
  CHECK(world.tuner->save()["turns"]["proposed"] == 4);
}

TEST_CASE("auto: while many trials run the estimator has no turns") {
  TunerWorld world("auto", kReals);
  for (int i = 0; i < 20; ++i) movers(world);
  const TrialId first = world.next;
  for (int i = 0; i < 3; ++i) movers(world, false);
  std::string turns;
  for (int i = 0; i < 7; ++i) turns += movers(world).substr(0, 2);
  CHECK(turns == "GPTuGPTuGPTuGP");
  // Saved and loaded it knows what runs.
  TunerWorld other("auto", kReals);
  REQUIRE(other.tuner->load(world.tuner->save()));
  CHECK(movers(other) == "TuRBO ");
  CHECK(movers(other) == "GP ");
  world.failed(first, {0, 0});
  world.tuner->withdraw(first + 1);
  turns.clear();
  for (int i = 0; i < 6; ++i) turns += movers(world).substr(0, 2);
  CHECK(turns.find("TP") != std::string::npos);
}

TEST_CASE("auto: after thirty trials each branch has had four, however bad it is") {
  json options = json::array();
  for (int k = 0; k < 5; ++k) {
    options.push_back({{"_name", std::to_string(k)},
                       {"x" + std::to_string(k), {{"_type", "uniform"}, {"_value", {0, 1}}}}});
  }
  const std::string space = json{{"model", {{"_type", "choice"}, {"_value", options}}}}.dump();
  for (const std::string tuner : {"auto", "GP"}) {
    for (const std::uint64_t seed : {1u, 2u, 3u}) {
      TunerWorld world(tuner, space, {}, seed);
      std::vector<int> trials(5);
      for (int i = 0; i < 30; ++i) {
        const auto values = world.values();
        ++trials[static_cast<std::size_t>(values[0])];
        world.completed(world.next - 1, values, values[0]);
      }
      CAPTURE(tuner, seed);
      CHECK(std::ranges::min(trials) >= 4);
    }
  }
}

TEST_CASE("auto: the model searches although a branch has but few points") {
  const std::string space = R"({"algo": {"_type": "choice", "_value": [
      {"_name": "linear", "l2": {"_type": "choice", "_value": [true, false]}},
      {"_name": "svm", "a": {"_type": "uniform", "_value": [0, 1]},
                       "b": {"_type": "uniform", "_value": [0, 1]}}]}})";
  for (const std::string tuner : {"auto", "GP"}) {
    std::vector<double> best;
    for (const std::uint64_t seed : {1u, 2u, 3u, 4u, 5u}) {
      TunerWorld world(tuner, space, {{"optimize_mode", "minimize"}}, seed);
      best.push_back(1);
      for (int i = 0; i < 32; ++i) {
        const auto v = world.values();
        const double loss = v[0] == 0 ? 1 : std::pow(v[2] - 0.3, 2) + std::pow(v[3] - 0.6, 2);
        world.completed(world.next - 1, v, loss);
        best.back() = std::min(best.back(), loss);
      }
    }
    CAPTURE(tuner, best);
    std::ranges::sort(best);
    CHECK(best[2] < 1e-3);
  }
}

TEST_CASE("auto: the first trial is in the middle, unless one was lost in a crash") {
  for (const char* tuner : {"auto", "GP", "TuRBO"}) {
    CAPTURE(tuner);
    TunerWorld world(tuner, R"({"x": {"_type": "uniform", "_value": [2, 4]}})"),
        resumed(tuner, R"({"x": {"_type": "uniform", "_value": [2, 4]}})");
    CHECK(world.values()[0] == 3);
    CHECK(world.values()[0] != 3);
    resumed.tuner->skip_ahead();
    CHECK(resumed.values()[0] != 3);
  }
}

TEST_CASE("auto: with several objectives the process proposes alone") {
  TunerWorld world("auto", kReals, {}, 1, {{"a", false}, {"b", false}});
  CHECK_FALSE(world.tuner->save()["members"].contains("TuRBO"));
  std::string turns;
  for (int i = 0; i < 14; ++i) turns += movers(world).substr(0, 1);
  CHECK(turns == "GGGGGGGGGGGGGG");
}

TEST_CASE("auto: with limits only the evolution strategy has no turns") {
  const auto limited = std::vector<Objective>{{"a", false}, {"b", false, 1.0}};
  TunerWorld world("auto", kReals, {}, 1, limited);
  CHECK_FALSE(world.tuner->save()["members"].contains("CMA-ES"));
  std::string turns;
  for (int i = 0; i < 16; ++i) turns += movers(world).substr(0, 2);
  CHECK(turns == "TuTuTuTuTuTuTuTuTuTuTuTPTuGPTuGP");
  pretend_proposed(world, 303);
  CHECK(movers(world) == "GP ");
}

TEST_CASE("auto: a space of very many dimensions is the estimator's alone") {
  std::string text = "{";
  for (int i = 0; i < 2001; ++i) {
    text += (i > 0 ? ", \"x" : "\"x") + std::to_string(i) +
            R"(": {"_type": "uniform", "_value": [0, 1]})";
  }
  TunerWorld world("auto", text + "}");
  const json rng = world.tuner->save()["GP"]["rng"];
  for (int i = 0; i < 15; ++i) world.completed(world.next - 1, world.values(), i);
  CHECK(world.tuner->save()["GP"]["rng"] == rng);
}

}  // namespace attune::auto_test
