#include <set>

#include "tests/tuners/tuner_world.h"

namespace attune::evolution_test {

const std::string kThreeReals = R"({"a": {"_type": "uniform", "_value": [0, 1]},
                                    "b": {"_type": "uniform", "_value": [0, 1]},
                                    "c": {"_type": "uniform", "_value": [0, 1]}})";

bool is_not_yet(const Answer& answer) { return std::holds_alternative<NotYet>(answer); }

int differences(const std::vector<double>& a, const std::vector<double>& b) {
  int count = 0;
  for (std::size_t i = 0; i < a.size(); ++i) count += a[i] != b[i];
  return count;
}

TunerWorld evolution(int population_size, const std::string& space = kThreeReals,
                     std::uint64_t seed = 1) {
  return {"Evolution", space, {{"population_size", population_size}}, seed};
}

TEST_CASE("Evolution: a population that is running is a reason to wait, not to die") {
  TunerWorld world = evolution(3);
  for (int i = 0; i < 3; ++i) world.values();
  CHECK(is_not_yet(world.ask()));
  world.completed(0, {0.1, 0.2, 0.3}, 1);
  CHECK(differences(world.values(), {0.1, 0.2, 0.3}) == 1);  // its child
  CHECK(is_not_yet(world.ask()));
}

TEST_CASE("Evolution: not more than population_size run at a time") {
  TunerWorld world = evolution(4);
  for (TrialId id = 0; id < 4; ++id) world.completed(id, world.values(), double(id));
  for (int i = 0; i < 4; ++i) world.values();
  world.imported({0.1, 0.2, 0.3}, -1);
  CHECK(is_not_yet(world.ask()));
  world.failed(5, {0.1, 0.2, 0.3});
  CHECK_FALSE(is_not_yet(world.ask()));
}

TEST_CASE("Evolution: the better of two has a child, the other leaves") {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    CAPTURE(seed);
    TunerWorld world = evolution(2, kThreeReals, seed);
    const auto bad = world.values();
    const auto good = world.values();
    world.completed(0, bad, 5);
    world.completed(1, good, 0);
    const auto child = world.values();
    REQUIRE(differences(child, good) == 1);
    // Only the winner is left to be a parent, and it stays one.
    REQUIRE(differences(world.values(), good) == 1);
    world.completed(2, child, -1);
    REQUIRE(differences(world.values(), child) == 1);
  }
}

TEST_CASE("Evolution: every parameter is mutated, and only one") {
  TunerWorld world = evolution(1);
  auto parent = world.values();
  world.completed(0, parent, 0);
  std::set<std::size_t> mutated;
  for (int i = 0; i < 50; ++i) {
    const auto child = world.values();
    REQUIRE(differences(child, parent) == 1);
    for (std::size_t k = 0; k < 3; ++k) {
      if (child[k] != parent[k]) mutated.insert(k);
    }
    world.completed(world.next - 1, child, -1 - i);
    // The population of one became two; a tournament keeps the child, which is better.
    parent = child;
  }
  CHECK(mutated.size() == 3);
}

TEST_CASE("Evolution: inside of a nested choice a mutation mutates, outside it draws all anew") {
  const std::string nested = R"({"layer": {"_type": "choice", "_value": [
      {"_name": "none"},
      {"_name": "conv", "k": {"_type": "uniform", "_value": [0, 1]},
                        "p": {"_type": "uniform", "_value": [0, 1]}}]},
      "x": {"_type": "uniform", "_value": [0, 1]}})";
  const std::vector<double> parent = {1, 0.5, 0.25, 0.75};
  int inside = 0, branch = 0, outside = 0;
  for (std::uint64_t seed = 0; seed < 400; ++seed) {
    TunerWorld world = evolution(1, nested, seed);
    world.imported(parent, 0);
    const Point child{world.values()};
    const bool same_layer = child.values[0] == 1;
    if (child.values[3] != 0.75) {
      ++outside;
      CHECK(child.values[0] == 1);
      CHECK((child.values[1] == 0.5 && child.values[2] == 0.25));
    } else if (same_layer && (child.values[1] == 0.5) != (child.values[2] == 0.25)) {
      ++inside;
    } else {
      ++branch;
      CHECK(child.active(1) == same_layer);
      CHECK(child.active(2) == same_layer);
    }
  }
  CHECK(outside == Approx(100).margin(35));
  CHECK(inside == Approx(200).margin(40));
  CHECK(branch == Approx(100).margin(35));
}

TEST_CASE("Evolution: a failed trial leaves its place to a random one") {
  TunerWorld world = evolution(2);
  const auto first = world.values();
  const auto second = world.values();
  world.completed(0, first, 0);
  world.failed(1, second);
  CHECK(differences(world.values(), first) == 3);
}

TEST_CASE("Evolution: trials that were not proposed here do no harm, and teach") {
  TunerWorld world = evolution(2);
  world.values();
  world.tuner->adopt(77, {{0.1, 0.2, 0.3}});
  world.failed(77, {0.1, 0.2, 0.3});
  world.failed(78, {0.1, 0.2, 0.3});
  CHECK(differences(world.values(), {0.1, 0.2, 0.3}) == 3);
  CHECK(is_not_yet(world.ask()));
  world.tuner->adopt(79, {{0.1, 0.2, 0.3}});
  world.completed(79, {0.1, 0.2, 0.3}, 0);
  world.completed(0, {0.9, 0.8, 0.7}, 1);
  CHECK(differences(world.values(), {0.1, 0.2, 0.3}) == 1);
}

TEST_CASE("Evolution: imports take the places of random individuals, then of the worst") {
  TunerWorld world = evolution(2);
  const std::vector<double> best = {0.1, 0.2, 0.3};
  world.imported({0.4, 0.5, 0.6}, 0);
  world.imported({0.7, 0.8, 0.9}, 2);
  world.imported(best, -3);
  world.imported({0.15, 0.25, 0.35}, 1);
  // Now 0 and -3 are left: whichever is drawn first, the tournament is between these two.
  CHECK(differences(world.values(), best) == 1);
  CHECK(differences(world.values(), best) == 1);
}

TEST_CASE("Evolution: a finite space is proposed once, without a stall, and then exhausted") {
  const int population_size = GENERATE(1, 3, 50);
  TunerWorld world = evolution(population_size, R"({
      "a": {"_type": "choice", "_value": ["x", "y", "z"]}, "c": {"_type": "choice", "_value": [1]},
      "b": {"_type": "randint", "_value": [0, 5]}})");
  std::set<std::vector<double>> seen;
  for (int i = 0; i < 15; ++i) {
    const auto values = world.values();
    CHECK(seen.insert(values).second);
    if (i % 4 == 3) {
      world.failed(world.next - 1, values);
    } else {
      world.completed(world.next - 1, values, i % 5);
    }
  }
  CHECK(std::holds_alternative<Exhausted>(world.ask()));
}

TEST_CASE("Evolution: a mutation of a constant is drawn again") {
  TunerWorld world = evolution(1, R"({"c": {"_type": "choice", "_value": ["only"]},
                                      "x": {"_type": "uniform", "_value": [0, 1]}})");
  world.imported({0, 0.5}, 0);
  for (int i = 0; i < 20; ++i) {
    const auto child = world.values();
    CHECK(child[1] != 0.5);
    world.failed(world.next - 1, child);
    world.imported({0, 0.5}, -1 - i);  // instead of the random one
  }
}

TEST_CASE("Evolution: a population of nobody is refused") {
  const auto made = make_tuner(builtin_tuners(), "Evolution", {{"population_size", 0}}, {}, 1);
  REQUIRE_FALSE(made);
  CHECK(made.error().message.find("population_size") != std::string::npos);
}

}  // namespace attune::evolution_test
