#include <algorithm>
#include <cmath>
#include <set>

#include "tests/tuners/tuner_world.h"

namespace attune::regularized_evolution_test {

using Values = std::vector<double>;

constexpr auto kReals = R"({"a": {"_type": "uniform", "_value": [0, 1]},
    "b": {"_type": "uniform", "_value": [0, 1]}, "c": {"_type": "uniform", "_value": [0, 1]}})";

std::ptrdiff_t differences(const Values& a, const Values& b) {
  std::ptrdiff_t count = 0;
  for (std::size_t i = 0; i < a.size(); ++i) count += a[i] != b[i] ? 1 : 0;
  return count;
}

TEST_CASE("regularized evolution: children of the best one differ in one parameter") {
  TunerWorld world("RegularizedEvolution", kReals, {{"population_size", 6}, {"sample_size", 200}});
  Values best;
  for (int k = 0; k < 6; ++k) {
    const Values x = world.values();
    if (k == 3) best = x;
    world.completed(k, x, k == 3 ? 0 : 1);
  }
  for (int k = 0; k < 20; ++k) CHECK(differences(world.values(), best) == 1);
}

TEST_CASE("regularized evolution: the oldest leaves even if it is the best") {
  TunerWorld world("RegularizedEvolutionTuner", kReals,
                   {{"population_size", 3}, {"sample_size", 200}});
  Values first, second;
  for (int k = 0; k < 3; ++k) {
    const Values x = world.values();
    if (k == 0) first = x;
    if (k == 1) second = x;
    world.completed(k, x, k);
  }
  const Values child = world.values();
  CHECK(differences(child, first) == 1);
  world.completed(3, child, 9);
  for (int k = 0; k < 10; ++k) CHECK(differences(world.values(), second) == 1);
}

TEST_CASE("regularized evolution: a founder that fails is replaced by a random one") {
  TunerWorld world("RegularizedEvolution", kReals, {{"population_size", 2}, {"sample_size", 2}});
  const Values a = world.values(), b = world.values();
  world.completed(0, a, 1);
  world.failed(1, b);
  const Values c = world.values();
  CHECK(differences(c, a) == 3);
  CHECK(differences(c, b) == 3);
  world.tuner->withdraw(2);
  const Values d = world.values();
  CHECK(differences(d, a) == 3);
  CHECK(differences(world.values(), a) == 1);
}

TEST_CASE("regularized evolution: requests without any result are random and never wait") {
  TunerWorld world("RegularizedEvolution", kReals, {{"population_size", 4}, {"sample_size", 2}});
  std::set<Values> seen;
  for (int k = 0; k < 30; ++k) seen.insert(world.values());
  CHECK(seen.size() == 30);
}

TEST_CASE("regularized evolution: imports found the population") {
  TunerWorld world("RegularizedEvolution", kReals, {{"population_size", 3}, {"sample_size", 100}});
  for (int k = 0; k < 3; ++k) world.imported({0.5, 0.5, 0.1 * k}, k);
  for (int k = 0; k < 10; ++k) CHECK(differences(world.values(), {0.5, 0.5, 0}) == 1);
}

TEST_CASE("regularized evolution: better than random search on an architecture") {
  std::string text = "{";
  for (int i = 0; i < 12; ++i) {
    text += (i ? ", " : "") + std::string("\"x") + std::to_string(i) +
            R"(": {"_type": "layer_choice", "_value": ["a", "b", "c", "d"]})";
  }
  double ours = 0, random = 0;
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    for (const bool evolve : {true, false}) {
      TunerWorld world(evolve ? "RegularizedEvolution" : "Random", text + "}", {}, seed);
      double best = 100;
      for (int k = 0; k < 400; ++k) {
        const Values x = world.values();
        const double loss = 12 - static_cast<double>(std::ranges::count(x, 2.0));
        best = std::min(best, loss);
        world.completed(k, x, loss);
      }
      (evolve ? ours : random) += best / 5;
    }
  }
  CHECK(ours < random - 2);
}

TEST_CASE("regularized evolution: damaged states are declined") {
  TunerWorld world("RegularizedEvolution", kReals, {{"population_size", 2}});
  for (int k = 0; k < 2; ++k) world.completed(k, world.values(), k);
  const json good = world.tuner->save();
  for (const auto& [key, value] : std::vector<std::pair<std::string, json>>{
           {"fresh", -1}, {"fresh", 3}, {"losses", "AAAAAAAA8H8AAAAAAADwfw=="}}) {
    json state = good;
    state[key] = value;
    CAPTURE(key);
    CHECK_FALSE(world.tuner->load(state));
  }
}

}  // namespace attune::regularized_evolution_test
