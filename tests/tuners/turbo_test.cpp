#include <algorithm>
#include <cmath>
#include <set>

#include "base/saved_numbers.h"
#include "tests/tuners/tuner_world.h"

namespace attune::turbo_test {

using Values = std::vector<double>;

const std::string kLine = R"({"x": {"_type": "uniform", "_value": [0, 1]}})";

// A dozen dimensions that matter and a category.
std::string valley() {
  std::string text = "{";
  for (int i = 0; i < 12; ++i) {
    text += "\"x" + std::to_string(i) + R"(": {"_type": "uniform", "_value": [0, 1]}, )";
  }
  return text + R"("c": {"_type": "choice", "_value": ["a", "b", "c", "d"]}})";
}

double depth(const Values& v) {
  double sum = v[12] == 2 ? 0 : 0.5;
  for (std::size_t i = 0; i < 12; ++i)
    sum += std::pow(v[i] - 0.05 * static_cast<double>(i) - 0.2, 2);
  return sum;
}

double best_of(const std::string& tuner, std::uint64_t seed) {
  return lowest_loss({tuner, valley(), {}, seed}, 80, depth);
}

// Begins at 0.7, as if nothing better were ever found.
TunerWorld started(const json& arguments, std::uint64_t seed = 1) {
  TunerWorld world("TuRBO", kLine, arguments, seed);
  for (const double x : {0.1, 0.3, 0.9, 0.7}) world.imported({x}, std::abs(x - 0.7));
  return world;
}

TEST_CASE("turbo: finds in many dimensions what random search does not") {
  double random = 1e300, ours = 0;
  for (std::uint64_t seed = 1; seed <= 3; ++seed) {
    random = std::min(random, best_of("Random", seed));
    ours = std::max(ours, best_of("TuRBO", seed));
  }
  CAPTURE(random, ours);
  CHECK(ours < 0.1 * random);  // the worst of ours against the best at random
}

TEST_CASE("turbo: begins around the best import") {
  for (const double length : {0.05, 0.2}) {
    TunerWorld world = started({{"length_init", length}, {"n_initial", 4}});
    for (int k = 0; k < 4; ++k) CHECK(std::abs(world.values()[0] - 0.7) <= length / 2 + 1e-9);
  }
}

TEST_CASE("turbo: a better result moves the region and a failed trial does not") {
  TunerWorld world = started({{"length_init", 0.05}, {"n_initial", 4}});
  world.failed(world.next - 1, {0.2});
  CHECK(std::abs(world.values()[0] - 0.7) <= 0.025 + 1e-9);
  world.imported({0.4}, -1);
  CHECK(std::abs(world.values()[0] - 0.4) <= 0.025 + 1e-9);
}

TEST_CASE("turbo: a lucky result among many does not take the region away") {
  TunerWorld world("TuRBO", kLine, {{"length_init", 0.05}, {"n_initial", 4}});
  // A valley at 0.7 under noise; at 0.1 luck.
  for (int i = 0; i <= 60; ++i) {
    const double x = i / 60.0, noise = (i % 3 - 1) * 0.3;
    world.imported({x}, std::pow(x - 0.7, 2) * 4 + noise);
  }
  for (const double x : {0.09, 0.095, 0.105, 0.11}) world.imported({x}, 1.44);
  world.imported({0.1}, -0.5);
  CHECK(std::abs(world.values()[0] - 0.7) <= 0.2);
}

TEST_CASE("turbo: a region that has become too small is large again, and forgets nothing") {
  // Of so little a length that one halving ends it: four failures in one dimension.
  TunerWorld world = started({{"length_init", 0.01}, {"n_initial", 4}});
  const TrialId late = world.next;
  world.values();
  for (int k = 0; k < 30; ++k) {
    const Values values = world.values();
    // No random point comes. The centre is where the model expects the lowest loss.
    CHECK(std::abs(values[0] - 0.7) <= 0.03);
    world.completed(world.next - 1, values, std::abs(values[0] - 0.7));
  }
  // The first proposal was of a region that has ended: its result counts as no success.
  const json guided = world.tuner->save()["region"]["guided"];
  CHECK(std::ranges::find(guided, json(late)) == guided.end());
}

TEST_CASE("turbo: random points until there are results enough") {
  TunerWorld world("TuRBO", kLine, {{"length_init", 0.02}, {"n_initial", 6}});
  for (int k = 0; k < 6; ++k) {
    const Values values = world.values();
    world.completed(world.next - 1, values, std::abs(values[0] - 0.5));
    world.failed(1000 + k, {0.5});  // not a result
  }
  std::vector<double> near;
  for (int k = 0; k < 5; ++k) near.push_back(world.values()[0]);
  CHECK(std::ranges::max(near) - std::ranges::min(near) <= 0.02 + 1e-9);
  CHECK(std::set(near.begin(), near.end()).size() == 5);  // spread, though nothing was told
}

TEST_CASE("turbo: every point of a finite space once") {
  TunerWorld world("TrustRegion", R"({"a": {"_type": "choice", "_value": ["x", "y", "z"]},
      "b": {"_type": "randint", "_value": [0, 8]},
      "s": {"_type": "input_choice", "_value": {"candidates": ["a", "b", "c"], "n_chosen": 1}}})");
  std::set<Values> seen;
  for (int k = 0; k < 72; ++k) {
    const Values values = world.values();
    CHECK(seen.insert(values).second);
    world.completed(world.next - 1, values, values[0] + std::abs(values[1] - 3));
  }
  CHECK(std::holds_alternative<Exhausted>(world.ask()));
}

TEST_CASE("turbo: losses of any magnitude") {
  for (const double scale : {1e300, 1e-300, 0.0}) {
    TunerWorld world("TuRBO", kLine, {{"n_initial", 3}});
    for (int k = 0; k < 30; ++k) {
      const Values values = world.values();
      CHECK(values[0] >= 0);
      CHECK(values[0] <= 1);
      world.completed(world.next - 1, values, scale * (values[0] - 0.3));
    }
  }
}

TEST_CASE("turbo: damaged regions are errors and change nothing") {
  TunerWorld world = started({{"n_initial", 4}});
  world.values();
  const json good = world.tuner->save();
  const auto with = [&](const std::string& key, const json& value) {
    json damaged = good;
    damaged["region"][key] = value;
    return damaged;
  };
  for (const json& damaged :
       {with("guided", {"x"}), with("guided", {0.5}), with("trust", "x"), with("models", {}),
        with("models", json::array()), with("surrogate", {}), with("surrogate", json::array()),
        with("members", "x")}) {
    CHECK_FALSE(world.tuner->load(damaged));
    CHECK(world.tuner->save() == good);
  }
  CHECK(world.tuner->load(good));
}

TEST_CASE("turbo: a state of a former version, which had one model, goes on the same") {
  TunerWorld world("TuRBO", kLine, {{"n_initial", 3}}), other("TuRBO", kLine, {{"n_initial", 3}});
  for (int i = 0; i < 8; ++i) {
    const Values values = world.values();
    world.completed(world.next - 1, values, values[0]);
  }
  json state = world.tuner->save();
  state["region"]["surrogate"] = state["region"]["models"][0];
  state["region"].erase("models");
  REQUIRE(other.tuner->load(state));
  other.next = world.next;
  CHECK(other.values() == world.values());
}

TEST_CASE("turbo: a state of a former version, whose region forgot results, goes on with all") {
  TunerWorld world = started({{"n_initial", 4}}), other = started({{"n_initial", 4}});
  world.values();
  json state = world.tuner->save();
  state["region"]["members"] = save_numbers(Values{2, 3});
  state["region"]["strangers"] = json::array();
  REQUIRE(other.tuner->load(state));
  other.next = world.next;
  CHECK(other.values() == world.values());
}

TEST_CASE("turbo: impossible arguments are errors") {
  for (const json& arguments : {json{{"length_init", 0}}, json{{"length_init", 1.7}},
                                json{{"success_tolerance", 0}}, json{{"n_initial", 0}}}) {
    CHECK_FALSE(make_tuner(builtin_tuners(), "TuRBO", arguments, {}, 1));
  }
}

}  // namespace attune::turbo_test
