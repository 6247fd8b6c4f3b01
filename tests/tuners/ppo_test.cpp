#include <catch2/catch.hpp>
#include <cmath>
#include <set>

#include "base/saved_numbers.h"
#include "tests/tuners/tuner_world.h"

namespace attune::ppo_test {

using Values = std::vector<double>;

constexpr auto kLayers = R"({"a": {"_type": "layer_choice", "_value": ["x", "y", "z", "u"]},
    "b": {"_type": "choice", "_value": [1, 2, 3, 4]}, "c": {"_type": "choice", "_value": [1, 2, 3]},
    "in": {"_type": "input_choice", "_value": {"candidates": ["p", "q", "r", "s"],
                                               "n_chosen": 2}}})";

std::string error_of(const std::string& space_text) {
  const auto made = make_tuner(builtin_tuners(), "PPOTuner", {}, {}, 1);
  const Space space = parse_space(parse_json(space_text).value()).value();
  const auto set = made->tuner->set_space(space);
  return set ? "" : set.error().message;
}

// Of `total` trials, how many had the first option in each of three; the ends as `told` does it.
template <class Tell>
int hits(TunerWorld& world, int total, Tell&& tell_one) {
  int hits = 0;
  for (int i = 0; i < total; ++i) {
    const Values x = world.values();
    hits += x[0] == 0 ? 1 : 0;
    tell_one(world.next - 1, x);
  }
  return hits;
}

constexpr auto kWide = R"({"a": {"_type": "choice", "_value": [1, 2, 3, 4]},
    "b": {"_type": "choice", "_value": [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16]},
    "c": {"_type": "choice", "_value": [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16]}})";

TEST_CASE("ppo: a space with another type is declined by name and with a cure") {
  const std::string error = error_of(R"({"op": {"_type": "choice", "_value": [
      {"_name": "conv", "rate": {"_type": "uniform", "_value": [0, 1]}}, {"_name": "skip"}]}})");
  CAPTURE(error);
  CHECK(error.find("rate") != std::string::npos);
  CHECK(error.find("as a choice") != std::string::npos);
  CHECK_FALSE(error_of(R"({"i": {"_type": "randint", "_value": [0, 3]}})").empty());
  CHECK(error_of(kLayers).empty());
}

TEST_CASE("ppo: what is withdrawn leaves its place, and the others keep theirs") {
  TunerWorld world("PPO", kLayers, {{"trials_per_update", 3}});
  const Values a = world.values(), b = world.values(), c = world.values();
  world.tuner->withdraw(1);
  world.tuner->withdraw(1);   // of no effect
  world.tuner->withdraw(17);  // as this
  const Values d = world.values();
  CHECK(std::holds_alternative<NotYet>(world.ask()));
  json twice = world.tuner->save();
  twice["trials"] = {0, 3, 3};
  world.completed(2, c, 2);
  world.tuner->withdraw(2);  // has ended
  world.failed(0, a);
  const json state = world.tuner->save();
  CHECK(state["trials"] == json({0, 2, 3}));
  TunerWorld copy("PPO", kLayers, {{"trials_per_update", 3}});
  REQUIRE(copy.tuner->load(state));
  copy.next = world.next;
  for (TunerWorld* one : {&world, &copy}) {
    CHECK(std::holds_alternative<NotYet>(one->ask()));
    one->completed(3, d, 1);
  }
  CHECK(world.values() == copy.values());

  CHECK_FALSE(copy.tuner->load(twice));
}

TEST_CASE("ppo: requests beyond the batch wait until all of it has ended") {
  TunerWorld world("PPO", kLayers, {{"trials_per_update", 3}});
  const Values a = world.values(), b = world.values(), c = world.values();
  CHECK(std::holds_alternative<NotYet>(world.ask()));
  world.completed(0, a, 1);
  world.failed(1, b);
  CHECK(std::holds_alternative<NotYet>(world.ask()));
  world.completed(2, c, 2);
  CHECK(std::holds_alternative<Proposal>(world.ask()));
}

TEST_CASE("ppo: what is withdrawn or asked for again leaves its place") {
  TunerWorld world("PPO", kLayers, {{"trials_per_update", 2}});
  world.values();
  world.values();
  CHECK(std::holds_alternative<NotYet>(world.ask()));
  world.tuner->withdraw(0);
  CHECK(std::holds_alternative<Proposal>(world.tuner->ask(std::vector<TrialId>{0})[0]));
  CHECK(std::holds_alternative<NotYet>(world.ask()));
  CHECK(std::holds_alternative<Proposal>(world.tuner->ask(std::vector<TrialId>{1})[0]));
}

TEST_CASE("ppo: every configuration once and then exhausted") {
  TunerWorld world("PPO", kLayers);
  std::set<Values> seen;
  for (int i = 0; i < 4 * 4 * 3 * 6; ++i) {
    const Values x = world.values();
    CHECK(seen.insert(x).second);
    world.completed(i, x, x[0] + x[1]);
  }
  CHECK(std::holds_alternative<Exhausted>(world.ask()));
  world.imported({0, 0, 0, 3}, 1);
  CHECK(std::holds_alternative<Exhausted>(world.ask()));
}

TEST_CASE("ppo: learns what is good at any scale of the losses") {
  for (const double scale : {1e-300, 1.0, 1e300}) {
    TunerWorld world("PPO", kWide);
    const auto tell = [&](TrialId id, const Values& x) { world.completed(id, x, x[0] * scale); };
    hits(world, 160, tell);
    CHECK(hits(world, 40, tell) > 25);  // 10 by chance
  }
}

TEST_CASE("ppo: equal results and failures alone teach nothing") {
  TunerWorld world("PPO", kWide, {{"lr", 1.0}});
  const json before = world.tuner->save()["policy"];
  hits(world, 40, [&](TrialId id, const Values& x) { world.completed(id, x, 7); });
  hits(world, 40, [&](TrialId id, const Values& x) { world.failed(id, x); });
  CHECK(world.tuner->save()["policy"] == before);
}

TEST_CASE("ppo: a failed trial is average and a stopped one is bad") {
  // With results that are noise, the first option fails: it stays about as likely as others. When
  // it is stopped, it is avoided.
  for (const bool stopped : {false, true}) {
    CAPTURE(stopped);
    int all = 0;
    for (std::uint64_t seed = 1; seed <= 5; ++seed) {
      TunerWorld world("PPO", kWide, {}, seed);
      Rng noise(seed);
      const auto tell = [&](TrialId id, const Values& x) {
        if (x[0] != 0) return world.completed(id, x, noise.normal());
        const End end = stopped ? End::stopped : End::failed;
        world.tuner->tell(std::vector{Outcome{id, {x}, {}, {}, end, {}}});
      };
      hits(world, 160, tell);
      all += hits(world, 40, tell);
    }
    if (stopped) CHECK(all < 15);
    if (!stopped) CHECK(all > 25);  // 50 by chance
  }
}

TEST_CASE("ppo: imports before the first request train the policy") {
  TunerWorld world("PPO", kWide);
  for (int i = 0; i < 160; ++i) {
    const double a = i % 4, b = i / 4 % 16, c = i % 16;
    world.imported({a, b, c}, a);
  }
  const int found =
      hits(world, 20, [&](TrialId id, const Values& x) { world.completed(id, x, 0); });
  CHECK(found > 10);  // 5 by chance
}

TEST_CASE("ppo: of a subset all are equally likely at first") {
  std::vector<int> counts(16);
  for (std::uint64_t seed = 1; seed <= 600; ++seed) {
    TunerWorld world("PPO", kLayers, {}, seed);
    ++counts[static_cast<std::size_t>(world.values()[3])];
  }
  for (const std::size_t mask : {3u, 5u, 6u, 9u, 10u, 12u}) {
    CHECK(counts[mask] > 65);
    CHECK(counts[mask] < 140);
  }
}

TEST_CASE("ppo: damaged batches are refused") {
  TunerWorld world("PPO", kLayers, {{"trials_per_update", 2}});
  world.completed(0, world.values(), 1);
  const json good = world.tuner->save();
  REQUIRE(world.tuner->load(good));
  json damaged = good;
  damaged["ended"] = save_numbers(std::vector<double>{0});  // runs, and has a loss
  CHECK_FALSE(world.tuner->load(damaged));
  damaged = good;
  damaged["losses"] = save_numbers(std::vector<double>{-HUGE_VAL});
  CHECK_FALSE(world.tuner->load(damaged));
  damaged["losses"] = save_numbers(std::vector<double>{1, 2});
  CHECK_FALSE(world.tuner->load(damaged));
  damaged = good;
  damaged["trials"] = {"x"};
  CHECK_FALSE(world.tuner->load(damaged));
  CHECK(world.tuner->save() == good);
}

}  // namespace attune::ppo_test
