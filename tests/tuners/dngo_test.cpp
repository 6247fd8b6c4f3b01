#include <algorithm>
#include <cmath>

#include "base/rng.h"
#include "space/dedup.h"
#include "tests/tuners/tuner_world.h"

namespace attune::dngo_test {

using Values = std::vector<double>;

const std::string kCurved = R"({"x": {"_type": "uniform", "_value": [0, 1]},
    "y": {"_type": "loguniform", "_value": [0.001, 1]},
    "c": {"_type": "choice", "_value": ["a", "b", "c", "d"]}})";

// With y by its position between the logarithms.
double curved(const Values& v) {
  const double y = 1 + std::log10(v[1]) / 3;
  return std::pow(v[0] - 0.62, 2) + std::pow(y - 0.28, 2) + (v[2] == 2 ? 0 : 0.2);
}

double best_of(const std::string& tuner, std::uint64_t seed, int trials) {
  return lowest_loss({tuner, kCurved, {}, seed}, trials, curved);
}

Values random_point(Rng& rng) {
  const double x = rng.uniform(), y = std::pow(10, -3 * rng.uniform());
  return {x, y, static_cast<double>(rng.index(4))};
}

// Whether answers after so many results depend on what these were.
bool learns_from(int results, const json& arguments) {
  TunerWorld a("DNGO", kCurved, arguments), b("DNGO", kCurved, arguments);
  Rng rng(3);
  for (int k = 0; k < results; ++k) {
    const Values v = random_point(rng);
    a.imported(v, curved(v));
    b.imported(v, -curved(v));
  }
  return a.values() != b.values();
}

TEST_CASE("dngo: finds what random search does not") {
  double random = 1e300, ours = 0;
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    random = std::min(random, best_of("Random", seed, 50));
    ours = std::max(ours, best_of("DNGOTuner", seed, 50));
  }
  CAPTURE(random, ours);
  CHECK(ours < random);
}

TEST_CASE("dngo: random until the first training, which imported results bring near") {
  CHECK_FALSE(learns_from(9, {}));
  CHECK(learns_from(10, {}));
  CHECK_FALSE(learns_from(3, {{"trials_per_update", 4}}));
  CHECK(learns_from(4, {{"trials_per_update", 4}}));
}

TEST_CASE("dngo: between two trainings the output learns from each result") {
  TunerWorld a("DNGO", kCurved, {{"trials_per_update", 20}});
  TunerWorld b("DNGO", kCurved, {{"trials_per_update", 20}});
  run(a, 12, curved);
  run(b, 12, curved);
  const Values next = a.values();
  REQUIRE(b.values() == next);
  a.completed(a.next - 1, next, -1);
  b.completed(b.next - 1, next, 1);
  CHECK(a.values() != b.values());
}

TEST_CASE("dngo: a batch has no point twice and is spread") {
  TunerWorld world("DNGO", kCurved);
  run(world, 20, curved);
  std::vector<TrialId> ids(64);
  for (TrialId& id : ids) id = world.next++;
  SeenPoints seen(world.space);
  std::vector<Values> apart;
  for (const Answer& answer : world.tuner->ask(ids)) {
    const Values v = std::get<Proposal>(answer).point.values;
    CHECK(seen.insert(Point{v}));
    const bool is_new = std::ranges::none_of(apart, [&](const Values& other) {
      return v[2] == other[2] && std::hypot(v[0] - other[0], std::log10(v[1] / other[1])) < 0.03;
    });
    if (is_new) apart.push_back(v);
  }
  CHECK(apart.size() >= 16);
}

TEST_CASE("dngo: a finite nested space is proposed once and then it is exhausted") {
  TunerWorld world("DNGO", R"({"a": {"_type": "randint", "_value": [0, 6]},
      "b": {"_type": "choice", "_value": ["x", "y", "x"]},
      "n": {"_type": "choice", "_value": [{"_name": "p"}, {"_name": "q",
        "k": {"_type": "choice", "_value": [1, 2, 4]}}]}})",
                   {{"trials_per_update", 5}});
  const auto loss = [](const Values& v) { return std::abs(v[0] - 4) + v[2]; };
  SeenPoints seen(world.space);
  for (const Values& v : run(world, 6 * 2 * 4, loss)) CHECK(seen.insert(Point{v}));
  CHECK(std::holds_alternative<Exhausted>(world.ask()));
}

TEST_CASE("dngo: extreme and equal losses and only failures") {
  for (const double unit : {0.0, 1e-300, 1e300}) {
    TunerWorld world("DNGO", kCurved, {{"trials_per_update", 5}});
    SeenPoints seen(world.space);
    for (const Values& v : run(world, 30, [&](const Values& x) { return unit * curved(x); })) {
      CHECK(seen.insert(Point{v}));
    }
  }
  TunerWorld hopeless("DNGO", kCurved);
  for (int k = 0; k < 30; ++k) hopeless.failed(k, hopeless.values());
}

TEST_CASE("dngo: histories beyond what the model holds") {
  TunerWorld world("DNGO", kCurved, {{"num_epochs_per_training", 20}, {"sample_size", 50}});
  Rng rng(5);
  for (int k = 0; k < 700; ++k) {
    const Values v = random_point(rng);
    world.imported(v, curved(v));
  }
  TunerWorld copy("DNGO", kCurved, {{"num_epochs_per_training", 20}, {"sample_size", 50}}, 9);
  run(world, 3, curved);
  REQUIRE(copy.tuner->load(world.tuner->save()));
  copy.next = world.next;
  CHECK(run(copy, 3, curved) == run(world, 3, curved));
}

TEST_CASE("dngo: a network that does not fit its results is refused") {
  TunerWorld world("DNGO", kCurved);
  run(world, 12, curved);
  const json good = world.tuner->save();
  const auto refused = [&](const std::string& key, const json& value) {
    json damaged = good;
    damaged[key] = value;
    return !world.tuner->load(damaged);
  };
  CHECK(refused("trained_at", 13));
  CHECK(refused("trained_at", -1));
  CHECK(refused("trained_at", 0));
  CHECK(refused("network", nullptr));
  CHECK(refused("network", ""));
  TunerWorld other("DNGO", R"({"x": {"_type": "uniform", "_value": [0, 1]}})");
  run(other, 12, [](const Values& v) { return v[0]; });
  CHECK(refused("network", other.tuner->save()["network"]));
  CHECK(world.tuner->save() == good);
}

TEST_CASE("dngo: arguments are checked and the least of everything works") {
  for (const std::string key : {"trials_per_update", "num_epochs_per_training", "sample_size"}) {
    for (const json& value : {json(0), json(1.5), json("x")}) {
      const auto made = make_tuner(builtin_tuners(), "DNGO", {{key, value}}, {}, 1);
      REQUIRE_FALSE(made);
      CHECK(made.error().message.find(key) != std::string::npos);
    }
  }
  TunerWorld world("DNGO", kCurved,
                   {{"trials_per_update", 1}, {"num_epochs_per_training", 1}, {"sample_size", 1}});
  CHECK(run(world, 20, curved).size() == 20);
}

}  // namespace attune::dngo_test
