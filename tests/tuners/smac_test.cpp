#include <algorithm>
#include <cmath>
#include <set>

#include "tests/tuners/tuner_world.h"

namespace attune::smac_test {

using Values = std::vector<double>;

constexpr auto kTwo = R"({"x": {"_type": "uniform", "_value": [0, 1]},
    "y": {"_type": "uniform", "_value": [0, 1]}})";

// Two branches of which the second is better, with what matters inside.
constexpr auto kBranches = R"({"model": {"_type": "choice", "_value": [
      {"_name": "a", "x": {"_type": "uniform", "_value": [0, 1]}},
      {"_name": "b", "k": {"_type": "randint", "_value": [0, 20]},
                     "c": {"_type": "choice", "_value": ["p", "q", "r"]}}]},
    "lr": {"_type": "loguniform", "_value": [0.0001, 1]}})";

double branches_loss(const Values& v) {
  const double lr = std::pow(std::log10(v[4]) + 2, 2);
  if (v[0] == 0) return 3 + v[1] + lr;
  return std::abs(v[2] - 13) / 4 + (v[3] == 2 ? 0 : 1) + lr;
}

double best_of(const std::string& tuner, const json& arguments, std::uint64_t seed, int trials) {
  return lowest_loss({tuner, kBranches, arguments, seed}, trials, branches_loss);
}

TEST_CASE("smac: finds more than random search in a space with branches") {
  double ours = 0, random = 0;
  for (std::uint64_t seed = 1; seed <= 8; ++seed) {
    ours += best_of("SMAC", {}, seed, 60) / 8;
    random += best_of("Random", {}, seed, 60) / 8;
  }
  CHECK(ours < 0.5 * random);
}

TEST_CASE("smac: the initial design is random and what follows stays in the better branch") {
  TunerWorld world("SMAC", kBranches, {{"initial_design", 12}, {"random_probability", 0}});
  int early = 0, late = 0;
  for (int k = 0; k < 42; ++k) {
    const Values x = world.values();
    (k < 12 ? early : late) += x[0] == 1 ? 1 : 0;
    world.completed(k, x, branches_loss(x));
  }
  CHECK(early >= 3);
  CHECK(early <= 9);
  CHECK(late >= 27);
}

TEST_CASE("smac: a share of the proposals is random") {
  const auto spread = [](double probability) {
    TunerWorld world("SMACTuner", kTwo, {{"random_probability", probability}});
    int far = 0;
    for (int k = 0; k < 80; ++k) {
      const Values x = world.values();
      far += k >= 20 && std::abs(x[0] - 0.3) > 0.2 ? 1 : 0;
      world.completed(k, x, std::abs(x[0] - 0.3) + 0.1 * x[1]);
    }
    return far;
  };
  CHECK(spread(0) < 15);
  CHECK(spread(1) == Approx(36).margin(12));  // 0.6 of 60
}

TEST_CASE("smac: where trials fail it looks rarely") {
  TunerWorld world("SMAC", kTwo);
  int failed = 0;
  for (int k = 0; k < 60; ++k) {
    const Values x = world.values();
    if (x[0] > 0.5) {
      failed += k >= 20 ? 1 : 0;
      world.failed(k, x);
    } else {
      world.completed(k, x, x[1]);
    }
  }
  CHECK(failed < 10);
}

TEST_CASE("smac: what was stopped counts as neither good nor worst") {
  TunerWorld world("SMAC", kTwo, {{"initial_design", 8}, {"random_probability", 0}});
  for (int k = 0; k < 30; ++k) {
    const double x = (k + 0.5) / 30;
    const Outcome outcome{kImportedTrial,
                          {{x, 0.5}},
                          x < 0.5 ? std::optional(x) : std::nullopt,
                          {},
                          x < 0.5 ? End::imported : End::stopped,
                          {}};
    world.tuner->tell(std::vector{outcome});
  }
  for (int k = 0; k < 5; ++k) CHECK(world.values()[0] < 0.5);
}

TEST_CASE("smac: a batch spreads") {
  TunerWorld world("SMAC", kTwo, {{"random_probability", 0}});
  for (int k = 0; k < 20; ++k) {
    const Values x = world.values();
    world.completed(k, x, std::abs(x[0] - 0.5) + std::abs(x[1] - 0.5));
  }
  std::vector<Values> batch;
  for (int k = 0; k < 10; ++k) batch.push_back(world.values());
  double nearest = 1;
  for (std::size_t i = 0; i < batch.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      nearest = std::min(nearest, std::hypot(batch[i][0] - batch[j][0], batch[i][1] - batch[j][1]));
    }
  }
  CHECK(nearest > 1e-4);
}

TEST_CASE("smac: imports count for the initial design and no point is proposed twice") {
  TunerWorld world("SMAC", R"({"a": {"_type": "randint", "_value": [0, 6]},
      "c": {"_type": "choice", "_value": ["p", "q", "r", "s"]}})",
                   {{"initial_design", 3}, {"config_dedup", true}});
  for (const double a : {0.0, 1.0, 2.0}) world.imported({a, 3}, 6 - a);
  std::set<Values> seen;
  for (int k = 0; k < 21; ++k) {
    const Values x = world.values();
    CHECK(seen.insert(x).second);
    if (k == 0) CHECK(x[0] >= 2);
    world.completed(k, x, 6 - x[0]);
  }
  CHECK_FALSE(seen.contains({0, 3}));
  CHECK(std::holds_alternative<Exhausted>(world.ask()));
}

TEST_CASE("smac: losses of any magnitude and equal ones") {
  for (const double scale : {1e300, 1e-300, 0.0}) {
    TunerWorld world("SMAC", kTwo, {{"random_probability", 0}});
    int near = 0;
    for (int k = 0; k < 40; ++k) {
      const Values x = world.values();
      near += k >= 20 && x[0] < 0.3 ? 1 : 0;
      world.completed(k, x, scale * (x[0] - 0.5));
    }
    CAPTURE(scale);
    if (scale > 0) CHECK(near > 14);
  }
}

TEST_CASE("smac: after a loss the points are others") {
  TunerWorld world("SMAC", kTwo, {{"random_probability", 0}});
  for (int k = 0; k < 12; ++k) {
    const Values x = world.values();
    world.completed(k, x, x[0]);
  }
  const json before = world.tuner->save();
  const Values next = world.values();
  REQUIRE(world.tuner->load(before));
  CHECK(world.values() == next);
  REQUIRE(world.tuner->load(before));
  world.tuner->skip_ahead();
  CHECK(world.values() != next);
}

}  // namespace attune::smac_test
