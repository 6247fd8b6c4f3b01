// The default tuner. What holds for every tuner is in conformance_test.cpp.
#include <cmath>
#include <numbers>

#include "tests/tuners/tuner_world.h"

namespace attune {
namespace {

const std::string kReals = R"({"x": {"_type": "uniform", "_value": [-5, 10]},
                               "y": {"_type": "uniform", "_value": [0, 15]}})";

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

}  // namespace

TEST_CASE("auto: close to the minimum of Branin's function in forty trials") {
  for (const std::uint64_t seed : {1u, 2u, 3u}) {
    CHECK(best_of("auto", seed, 40) < 0.45);  // 0.3979 is the minimum
    CHECK(best_of("Random", seed, 40) > 0.45);
  }
}

TEST_CASE("auto: every fourth proposal after the first ten is the estimator's") {
  TunerWorld world("auto", kReals);
  for (int i = 0; i < 9; ++i) world.completed(world.next - 1, world.values(), i);
  const json before = world.tuner->save();
  CHECK(before["proposed"] == 9);
  CHECK(before["members"]["TPE"]["running"] == before["members"]["GP"]["record"]["running"]);
  for (int i = 0; i < 8; ++i) {
    const json rng = world.tuner->save()["members"]["TPE"]["rng"];
    const auto proposed = world.tuner->save()["proposed"].get<int>();
    world.values();
    const bool estimator = world.tuner->save()["members"]["TPE"]["rng"] != rng;
    CHECK(estimator == (proposed >= 10 && proposed % 4 == 3));
  }
}

TEST_CASE("auto: a space of very many dimensions is the estimator's alone") {
  std::string text = "{";
  for (int i = 0; i < 101; ++i) {
    text += (i > 0 ? ", \"x" : "\"x") + std::to_string(i) +
            R"(": {"_type": "uniform", "_value": [0, 1]})";
  }
  TunerWorld world("auto", text + "}");
  const json rng = world.tuner->save()["GP"]["rng"];
  for (int i = 0; i < 15; ++i) world.completed(world.next - 1, world.values(), i);
  CHECK(world.tuner->save()["GP"]["rng"] == rng);
}

}  // namespace attune
