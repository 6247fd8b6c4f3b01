// What the model of BOHB learns from, and that it finds something. The densities themselves are
// tested in parts/bohb_density_test.cpp.
#include <catch2/catch.hpp>
#include <cmath>

#include "base/saved_numbers.h"
#include "tests/tuners/bohb_world.h"

namespace attune::bohb_model_test {

using namespace bohb_world;

// The share of the next proposals whose x is in [low, high]. All but those of the model are left
// out: a round is taken as failed.
double share(World& world, double low, double high) {
  int inside = 0, all = 0;
  for (int k = 0; k < 60; ++k) {
    const TrialId id = world.start();
    ++all;
    inside += world.x(id) >= low && world.x(id) <= high ? 1 : 0;
    world.tuner->withdraw(id);
  }
  return static_cast<double>(inside) / all;
}

json modelled(double random_fraction = 0) {
  json arguments = budgets(1, 9, 3);
  arguments["random_fraction"] = random_fraction;
  return arguments;
}

TEST_CASE("BOHB: the model is that of the largest budget with enough results") {
  // What is good at budget 1 is not at budget 3, and there again not as at budget 9.
  World world(modelled());
  const auto import = [&](double budget, double best, int count) {
    Rng rng(static_cast<std::uint64_t>(budget));
    for (int k = 0; k < count; ++k) {
      const double x = rng.uniform();
      world.import({{x}}, std::abs(x - best), budget);
    }
  };
  CHECK(share(world, 0.8, 1) < 0.5);  // nothing is known
  import(1, 0.1, 40);
  CHECK(share(world, 0, 0.2) > 0.8);
  import(3, 0.5, 3);  // too few: one dimension needs 2 and 2
  CHECK(share(world, 0, 0.2) > 0.8);
  import(3, 0.5, 37);
  CHECK(share(world, 0.4, 0.6) > 0.8);
  import(1, 0.9, 100);
  CHECK(share(world, 0.4, 0.6) > 0.8);
  for (const double x : {0.9, 0.92, 0.1, 0.3}) world.import({{x}}, std::abs(x - 0.9));
  CHECK(share(world, 0.75, 1) > 0.8);  // without a budget it is the largest one
}

// The losses that the model knows at each budget; infinite: not good.
std::map<double, std::vector<double>> known(const World& world) {
  const json state = world.tuner->save();
  const auto budgets = numbers_at(state, "budgets").value();
  std::map<double, std::vector<double>> losses;
  for (std::size_t i = 0; i < budgets.size(); ++i) {
    losses[budgets[i]] = numbers_at(state["results"][i], "losses").value();
  }
  return losses;
}

TEST_CASE("BOHB: each result counts at its budget") {
  World world(modelled());
  const auto first = world.start(9);
  std::map<double, std::vector<double>> expected;
  for (const TrialId id : first) {
    world.tell(id, static_cast<double>(id));
    expected[1].push_back(static_cast<double>(id));
  }
  world.start(3);
  world.tell(9, 0.5);
  world.report(10, 0, {{"default", 0.7}});
  world.tell(10, {});  // the last report counts
  world.tell(11, {}, End::failed);
  expected[3] = {0.5, 0.7, HUGE_VAL};
  world.import({{0.5}}, 4, 2);
  expected[2] = {4};
  // Without a budget, or with an impossible one, it is the largest.
  world.import({{0.5}}, 5);
  world.import({{0.5}}, 6, NAN);
  world.import({{0.5}}, 7, -1);
  world.tuner->adopt(-2, {{0.5}});
  world.tuner->tell(std::vector{Outcome{-2, {{0.5}}, 8, {}, End::completed, {}}});
  expected[9] = {5, 6, 7, 8};
  CHECK(known(world) == expected);
}

TEST_CASE("BOHB: one that was stopped counts as good only if it had used its budget") {
  World world(modelled());
  for (const TrialId id : world.start(9)) world.tell(id, 1);
  world.start(3);
  for (const TrialId id : {9, 10}) world.report(id, 0, {{"default", 0.5}});
  world.report(10, 2, {{"default", 0.4}});
  for (const TrialId id : {9, 10, 11}) world.tell(id, {}, End::stopped);
  CHECK(known(world)[3] == std::vector<double>{HUGE_VAL, 0.4, HUGE_VAL});
  CHECK(world.proposals.at(world.start()).checkpoint_from == 10);
}

TEST_CASE("BOHB: a trial that was stopped or failed was not good") {
  World world(modelled());
  Rng rng(6);
  // Everything above 0.3 fails, though it would be better.
  for (TrialId id = -2; id > -80; --id) {
    const double x = rng.uniform();
    const bool good = x < 0.3;
    const std::vector<End> ends = {End::failed, End::stopped, End::diverged};
    const End end = good ? End::completed : ends[static_cast<std::size_t>(-id) % 3];
    world.tuner->adopt(id, {{x}});
    world.tuner->tell(
        std::vector{Outcome{id, {{x}}, good ? std::optional(1 - x) : std::nullopt, {}, end, {}}});
  }
  CHECK(share(world, 0, 0.3) > 0.9);
}

TEST_CASE("BOHB: a share of the configurations is random whatever the model says") {
  for (const double fraction : {0.0, 0.5, 1.0}) {
    World world(modelled(fraction));
    Rng rng(6);
    for (int k = 0; k < 60; ++k) {
      const double x = rng.uniform();
      world.import({{x}}, x);
    }
    // A fifth of the random ones is that small, too.
    double small = 0;
    for (int k = 0; k < 5; ++k) small += share(world, 0, 0.2) / 5;
    CHECK(small == Approx(1 - fraction * 0.8).margin(0.1));
  }
}

TEST_CASE("BOHB: the model seeks the best that keeps the limits") {
  // Best without the limit at 0.2, with it at 0.6.
  World world(modelled(), kReal, {{"loss"}, {"x", true, 0.6}});
  Rng rng(1);
  for (int k = 0; k < 150; ++k) {
    const double x = rng.uniform();
    const Metrics metrics = {{"loss", std::abs(x - 0.2)}, {"x", x}};
    world.tuner->tell(
        std::vector{Outcome{kImportedTrial, {{x}}, metrics[0].second, metrics, End::imported, {}}});
  }
  CHECK(share(world, 0.58, 0.75) > 0.9);
}

TEST_CASE("BOHB: in a nested space proposals are complete and the options are learned") {
  World world(modelled(), kNested);
  Rng rng(2);
  int good = 0;
  for (int k = 0; k < 120; ++k) {
    Answer answer = world.ask();
    REQUIRE(std::holds_alternative<Proposal>(answer));
    const auto& values = std::get<Proposal>(answer).point.values;
    REQUIRE(point_from_json(world.space, to_json(world.space, {values})));
    const bool adam = values[1] == 1;
    // Best: adam with a large beta and "small".
    const double loss = adam ? 1 - values[3] + values[4] : 2 + values[2];
    world.import({values}, loss, 9);
    world.tuner->withdraw(world.next - 1);
    if (k >= 60) good += adam && values[3] > 0.6 && values[4] == 0 ? 1 : 0;
  }
  CHECK(good > 40);  // of 60; at random: 6
}

// A smooth function of four numbers, best near the middle; what a trial sees of it has noise that
// shrinks with its budget, and a bias of small budgets towards large x0.
double truth(const std::vector<double>& v) {
  double sum = 0;
  for (std::size_t i = 0; i < v.size(); ++i) sum += std::pow(v[i] - 0.3 - 0.1 * double(i), 2);
  return sum;
}

// The true value of the best trial, by what it reported at the largest budget, after so much
// resource in all.
double found(const json& arguments, std::uint64_t seed, double resource) {
  std::string text = "{";
  for (int i = 0; i < 4; ++i) {
    text +=
        (i ? ", \"x" : "\"x") + std::to_string(i) + R"(": {"_type": "uniform", "_value": [0, 1]})";
  }
  World world(arguments, text + "}", {{}}, seed);
  Rng noise(seed + 100);
  double best = HUGE_VAL, true_value = HUGE_VAL;
  while (resource > 0) {
    const TrialId id = world.start();
    const auto& values = world.proposals.at(id).point.values;
    const double budget = world.budget(id);
    const double seen = truth(values) + 0.05 * noise.normal() / budget + 0.1 * values[0] / budget;
    world.tell(id, seen);
    resource -= budget;
    if (budget == 9 && seen < best) {
      best = seen;
      true_value = truth(values);
    }
  }
  return true_value;
}

TEST_CASE("BOHB: with the same resource it finds better configurations than random search") {
  json plain = budgets(1, 9, 3), few = plain, no_model = plain, random = budgets(9, 9, 3);
  few["num_samples"] = 8;  // of many candidates the best one is too near to the known ones here
  no_model["random_fraction"] = 1;
  random["random_fraction"] = 1;  // and each configuration has the largest budget at once
  double by_default = 0, by_few = 0, by_brackets = 0, by_chance = 0;
  const int seeds = 20;
  for (std::uint64_t seed = 0; seed < seeds; ++seed) {
    by_default += found(plain, seed, 1000) / seeds;
    by_few += found(few, seed, 1000) / seeds;
    by_brackets += found(no_model, seed, 1000) / seeds;
    by_chance += found(random, seed, 1000) / seeds;
  }
  CAPTURE(by_default, by_few, by_brackets, by_chance);
  CHECK(by_default < 0.9 * by_brackets);
  CHECK(by_default < 0.7 * by_chance);
  CHECK(by_few < 0.4 * by_brackets);
  CHECK(by_few < 0.3 * by_chance);
}

}  // namespace attune::bohb_model_test
